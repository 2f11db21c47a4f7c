// Another plugin of the user, which adds system text of its own.
export default async () => ({
  "experimental.chat.system.transform": async (/** @type {object} */ _, /** @type {any} */ { system }) => {
    system.push("House rule: answer briefly.");
  },
});
