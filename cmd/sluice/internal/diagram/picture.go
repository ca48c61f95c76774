package diagram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/graphviz"
)

func svgOf(ctx context.Context, d *Drawing) ([]byte, error) {
	image, err := graphviz.Layout(ctx, dotOf(d, plannedSizes), graphviz.SVG)
	if err != nil {
		return nil, err
	}
	for _, size := range []struct{ planned, shown float64 }{{plannedSizes.title, shownSizes.title}, {plannedSizes.text, shownSizes.text}} {
		image = bytes.ReplaceAll(image, fontSize(size.planned), fontSize(size.shown)) // quotes in names are escaped
	}
	return image, nil
}

// fontSize returns the attribute as Graphviz writes it.
func fontSize(points float64) []byte { return fmt.Appendf(nil, `font-size="%.2f"`, points) }

func pngOf(ctx context.Context, d *Drawing) ([]byte, error) {
	text, err := graphviz.Layout(ctx, d.DOT(), graphviz.JSON)
	if err != nil {
		return nil, err
	}
	var laid laidOut
	if err := json.Unmarshal(text, &laid); err != nil {
		return nil, fmt.Errorf("read the layout of Graphviz: %w", err)
	}
	return laid.png()
}

// laidOut is the layout of a graph from Graphviz's writer "json". Coordinates are points from the lower left.
type laidOut struct {
	Box string `json:"bb"` // "x,y,x,y"
	drawn
	Objects []drawn `json:"objects"`
	Edges   []drawn `json:"edges"`
}

// drawn are the drawing instructions for one thing, in order.
type drawn struct {
	Shape []instruction `json:"_draw_"`
	Head  []instruction `json:"_hdraw_"`
	Label []instruction `json:"_ldraw_"`
}

// instruction is one operation of https://graphviz.org/docs/outputs/canon/#xdot.
type instruction struct {
	Op     string       `json:"op"`
	Color  string       `json:"color"`
	Points [][2]float64 `json:"points"`
	Rect   [4]float64   `json:"rect"` // centre and radii
	Style  string       `json:"style"`
	At     [2]float64   `json:"pt"`
	Align  string       `json:"align"`
	Width  float64      `json:"width"`
	Size   float64      `json:"size"`
	Text   string       `json:"text"`
}

// The size of images.
const (
	pixelsPerPoint = 2.0
	margin         = 16.0 // in points
	maxPixels      = 60e6 // a larger picture is scaled down
)

func (l *laidOut) png() ([]byte, error) {
	var width, height float64
	corners := strings.Split(l.Box, ",")
	if len(corners) == 4 {
		width, _ = strconv.ParseFloat(corners[2], 64)
		height, _ = strconv.ParseFloat(corners[3], 64)
	}
	if width <= 0 || height <= 0 {
		return nil, fmt.Errorf("read the layout of Graphviz: it has the size %q", l.Box)
	}
	width, height = width+2*margin, height+2*margin
	scale := min(pixelsPerPoint, math.Sqrt(maxPixels/(width*height)))
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	p := &pen{
		Context: gg.NewContext(int(math.Ceil(width*scale)), int(math.Ceil(height*scale))), scale: scale, height: height,
		font: parsed, faces: map[float64]font.Face{},
	}
	p.SetColor(color.White)
	p.Clear()
	for _, thing := range append(append([]drawn{l.drawn}, l.Objects...), l.Edges...) {
		for _, instructions := range [][]instruction{thing.Shape, thing.Head, thing.Label} {
			if err := p.follow(instructions); err != nil {
				return nil, err
			}
		}
	}
	var out bytes.Buffer
	err = p.EncodePNG(&out)
	return out.Bytes(), err
}

// pen executes drawing instructions.
type pen struct {
	*gg.Context
	scale, height float64
	font          *opentype.Font
	faces         map[float64]font.Face // by size

	line, fill string // colours
	size       float64
}

func (p *pen) follow(instructions []instruction) error {
	p.SetLineWidth(p.scale)
	p.SetDash()
	for _, i := range instructions {
		switch i.Op {
		case "c":
			p.line = i.Color
		case "C":
			p.fill = i.Color
		case "S":
			p.setStyle(i.Style)
		case "F":
			p.size = i.Size
		case "p", "P", "L", "b", "B":
			p.path(i)
			p.paint(i.Op == "P" || i.Op == "B")
		case "e", "E":
			x, y := p.at([2]float64{i.Rect[0], i.Rect[1]})
			p.DrawEllipse(x, y, i.Rect[2]*p.scale, i.Rect[3]*p.scale)
			p.paint(i.Op == "E")
		case "T":
			if err := p.write(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// at converts a position.
func (p *pen) at(pt [2]float64) (x, y float64) {
	return (pt[0] + margin) * p.scale, (p.height - margin - pt[1]) * p.scale
}

func (p *pen) setStyle(style string) {
	switch width, isWidth := strings.CutPrefix(style, "setlinewidth("); {
	case style == "dashed":
		p.SetDash(5*p.scale, 2.5*p.scale)
	case style == "dotted":
		p.SetDash(1.2*p.scale, 3*p.scale)
	case style == "solid":
		p.SetDash()
	case isWidth:
		if w, err := strconv.ParseFloat(strings.TrimSuffix(width, ")"), 64); err == nil {
			p.SetLineWidth(w * p.scale)
		}
	}
}

// path draws a line through points, or a curve: a start point, then two control points and an end point for each
// segment.
func (p *pen) path(i instruction) {
	curve := i.Op == "b" || i.Op == "B"
	for k, pt := range i.Points {
		x, y := p.at(pt)
		switch {
		case k == 0:
			p.MoveTo(x, y)
		case !curve:
			p.LineTo(x, y)
		case k%3 == 0:
			x1, y1 := p.at(i.Points[k-2])
			x2, y2 := p.at(i.Points[k-1])
			p.CubicTo(x1, y1, x2, y2, x, y)
		}
	}
	if i.Op == "p" || i.Op == "P" {
		p.ClosePath()
	}
}

// paint fills the path, if filled is set, and draws its line.
func (p *pen) paint(filled bool) {
	if filled {
		p.SetHexColor(p.fill)
		p.FillPreserve()
	}
	p.SetHexColor(p.line)
	p.Stroke()
}

// write writes a text. It reduces the size of a text that would be wider than Graphviz planned for its own font.
func (p *pen) write(i instruction) error {
	if err := p.setSize(p.size * p.scale); err != nil {
		return err
	}
	text := strings.ReplaceAll(i.Text, `\\`, `\`) // Graphviz escapes backslashes twice
	if planned, width := i.Width*p.scale, p.width(text); planned > 0 && width > planned {
		// Half points are enough, and keep the number of faces small.
		if err := p.setSize(max(1, math.Floor(2*p.size*p.scale*planned/width)/2)); err != nil {
			return err
		}
	}
	anchor := map[string]float64{"l": 0, "c": 0.5, "r": 1}[i.Align]
	x, y := p.at(i.At)
	p.SetHexColor(p.line)
	p.DrawStringAnchored(text, x, y, anchor, 0)
	return nil
}

func (p *pen) width(text string) float64 {
	w, _ := p.MeasureString(text)
	return w
}

func (p *pen) setSize(size float64) error {
	face := p.faces[size]
	if face == nil {
		var err error
		if face, err = opentype.NewFace(p.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return err
		}
		p.faces[size] = face
	}
	p.SetFontFace(face)
	return nil
}
