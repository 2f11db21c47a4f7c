package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"
)

// sizes are the two drawings of every chart, in CSS pixels.
var sizes = [...]struct {
	class         string
	width, height int
}{{"wide", 760, 380}, {"narrow", 340, 360}}

// Colours of a drawing stand for variables of the page: the red part says that, the
// green part which, for a series the blue part its number.
const (
	variable  = 1
	inkColour = 1
	dimColour = 2
	lineColor = 3
	series    = 9
)

func colour(which, number int) charts.Color {
	return charts.Color{R: variable, G: uint8(which), B: uint8(number), A: 255}
}

// seriesColours is how many colours the page has for series.
const seriesColours = 8

func theme() charts.ColorPalette {
	var list []charts.Color
	for i := range seriesColours {
		list = append(list, colour(series, i))
	}
	clear := charts.Color{R: variable, G: 0, B: 0, A: 0}
	return charts.MakeTheme(charts.ThemeOption{AxisStrokeColor: colour(dimColour, 0), AxisSplitLineColor: colour(lineColor, 0), BackgroundColor: clear,
		TextColor: colour(inkColour, 0), TextColorTitle: colour(inkColour, 0), TextColorMark: colour(inkColour, 0), TextColorLabel: colour(inkColour, 0),
		TextColorLegend: colour(inkColour, 0), TextColorXAxis: colour(inkColour, 0), TextColorYAxis: colour(inkColour, 0), SeriesColors: list})
}

var (
	drawn  = regexp.MustCompile(`rgba?\(1,(\d+),(\d+)(?:,([0-9.]+))?\)`)
	family = regexp.MustCompile(`font-family:[^"]*`)
)

// painted puts variables of the page in the place of the colours of a drawing.
func painted(svg string) string {
	svg = drawn.ReplaceAllStringFunc(svg, func(s string) string {
		m := drawn.FindStringSubmatch(s)
		which, _ := strconv.Atoi(m[1])
		switch {
		case m[3] == "0" || m[3] == "0.0" || which == 0:
			return "none"
		case which == inkColour:
			return "var(--ink)"
		case which == dimColour:
			return "var(--dim)"
		case which == lineColor:
			return "var(--rule)"
		}
		return "var(--s" + m[2] + ")"
	})
	svg = strings.ReplaceAll(svg, "fill:white", "fill:var(--page)")
	return family.ReplaceAllString(svg, "font-family:inherit")
}

// chart draws a chart in both sizes. what it shows is said in words for those who
// do not see it.
func chart(what string, draw func(p *charts.Painter, narrow bool) error) (string, error) {
	return tall(what, 0, draw)
}

// tall is chart with a height of its own; 0 is the usual one.
func tall(what string, height int, draw func(p *charts.Painter, narrow bool) error) (string, error) {
	var b strings.Builder
	b.WriteString(`<figure>`)
	for _, size := range sizes {
		if height > 0 {
			size.height = height
		}
		p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: size.width, Height: size.height, Theme: theme()})
		if err := draw(p, size.class == "narrow"); err != nil {
			return "", fmt.Errorf("chart %q: %w", what, err)
		}
		svg, err := p.Bytes()
		if err != nil {
			return "", fmt.Errorf("chart %q: %w", what, err)
		}
		head := fmt.Sprintf(`<svg class="%s" role="img" aria-label="%s"`, size.class, escape(what))
		b.WriteString(strings.Replace(painted(string(svg)), "<svg", head, 1))
	}
	b.WriteString("<figcaption>" + escape(what) + "</figcaption></figure>\n")
	return b.String(), nil
}

const labelSize = 11

func font() charts.FontStyle {
	return charts.FontStyle{FontSize: labelSize, FontColor: colour(inkColour, 0)}
}

func legend(names []string) charts.LegendOption {
	return charts.LegendOption{SeriesNames: names, FontStyle: font()}
}

// bars draws groups of bars, one for each name in each category, lying, so that a
// narrow page has room for what the categories are called. most is the end of the
// axis; 0 leaves it to the values.
func bars(what string, categories, names []string, values [][]float64, most float64, format func(float64) string) (string, error) {
	height := 90 + len(categories)*(12+9*len(names))
	return tall(what, height, func(p *charts.Painter, narrow bool) error {
		o := charts.NewBarChartOptionWithData(values)
		o.Theme = theme()
		o.Horizontal = true
		o.Legend = legend(names)
		o.ValueFormatter = format
		o.CategoryAxis = charts.CategoryAxisOption{Labels: categories, LabelFontStyle: font()}
		axis := charts.ValueAxisOption{LabelFontStyle: font(), Min: charts.Ptr(0.0), LabelCount: 6}
		if narrow {
			axis.LabelCount = 3
		}
		if most > 0 {
			axis.Max = charts.Ptr(most)
		}
		o.ValueAxis = []charts.ValueAxisOption{axis}
		return p.BarChart(o)
	})
}

// layers draws values that add up, along a line of turns.
func layers(what string, labels, names []string, values [][]float64) (string, error) {
	return chart(what, func(p *charts.Painter, _ bool) error {
		o := charts.NewLineChartOptionWithData(values)
		o.Theme = theme()
		o.StackSeries = charts.Ptr(true)
		o.FillOpacity = 255
		o.Legend = legend(names)
		o.Symbol = charts.Symbol{Shape: charts.SymbolNone}
		o.XAxis = charts.XAxisOption{Labels: labels, LabelFontStyle: font(), BoundaryGap: charts.Ptr(false)}
		o.YAxis = []charts.YAxisOption{{LabelFontStyle: font(), Min: charts.Ptr(0.0)}}
		o.ValueFormatter = thousands
		return p.LineChart(o)
	})
}

// lines draws values along a line of turns. Of the last marks series, only points
// are drawn.
func lines(what string, labels, names []string, values [][]float64, format func(float64) string) (string, error) {
	return chart(what, func(p *charts.Painter, _ bool) error {
		o := charts.NewLineChartOptionWithData(values)
		o.Theme = theme()
		o.Legend = legend(names)
		o.Symbol = charts.Symbol{Shape: charts.SymbolNone}
		for i := range o.SeriesList {
			if strings.HasPrefix(o.SeriesList[i].Name, "fold") || strings.HasPrefix(names[i], "fold") {
				o.SeriesList[i].Symbol = charts.Symbol{Shape: charts.SymbolDot, Size: 4}
			}
		}
		o.XAxis = charts.XAxisOption{Labels: labels, LabelFontStyle: font(), BoundaryGap: charts.Ptr(false)}
		o.YAxis = []charts.YAxisOption{{LabelFontStyle: font(), Min: charts.Ptr(0.0)}}
		o.ValueFormatter = format
		return p.LineChart(o)
	})
}

// point is one point of a scatter chart, by place on the axis.
type point struct {
	x, y   float64
	series int
}

// slots is how finely the axis of a scatter chart is divided.
const slots = 48

// scatter draws points by two values. The first name of front is joined by a line.
func scatter(what string, names []string, points []point, most float64) (string, error) {
	return chart(what, func(p *charts.Painter, narrow bool) error {
		values := make([][][]float64, len(names))
		for i := range values {
			values[i] = make([][]float64, slots+1)
		}
		for _, pt := range points {
			at := min(slots, max(0, int(pt.x/most*slots+0.5)))
			values[pt.series][at] = append(values[pt.series][at], pt.y)
		}
		labels := make([]string, slots+1)
		every := slots / 6
		if narrow {
			every = slots / 3
		}
		for i := range labels {
			if i%every == 0 {
				labels[i] = thousands(most * float64(i) / slots)
			}
		}
		o := charts.NewScatterChartOptionWithSeries(charts.NewSeriesListScatterMultiValue(values))
		o.Theme = theme()
		o.Legend = legend(names)
		o.Symbol = charts.Symbol{Shape: charts.SymbolDot, Size: 4}
		o.XAxis = charts.XAxisOption{Labels: labels, LabelFontStyle: font(), BoundaryGap: charts.Ptr(false), LabelCount: 6}
		o.YAxis = []charts.YAxisOption{{LabelFontStyle: font(), Min: charts.Ptr(0.0), Max: charts.Ptr(100.0)}}
		o.ValueFormatter = percentage
		return p.ScatterChart(o)
	})
}

func percentage(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) + " %" }

func thousands(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
