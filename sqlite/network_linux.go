package sqlite

import "syscall"

// File systems whose shared memory or locks do not reach every process that
// can see the file: a write-ahead log may corrupt the database there.
var networkKinds = map[uint32]bool{
	0x6969:     true, // NFS
	0x517b:     true, // SMB
	0xff534d42: true, // CIFS
	0xfe534d42: true, // SMB2
	0x01021997: true, // 9P
	0x65735546: true, // FUSE: sshfs and the like
	0x5346414f: true, // AFS
	0x00c36400: true, // Ceph
	0x786f4256: true, // VirtualBox shared folders
}

// onNetwork reports whether a folder lies on a network or host-shared file
// system.
func onNetwork(folder string) bool {
	var st syscall.Statfs_t
	if syscall.Statfs(folder, &st) != nil {
		return false
	}
	return networkKinds[uint32(st.Type)]
}
