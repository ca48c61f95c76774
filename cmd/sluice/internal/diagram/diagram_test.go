package diagram

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "write the golden files")

// world makes states.
type world struct{ snapshot state.Snapshot }

func (w *world) add(parent *state.Resource, typ urn.Type, name string, after ...*state.Resource) *state.Resource {
	r := &state.Resource{Type: typ, Custom: !strings.HasPrefix(string(typ), "acme:") && typ != urn.RootStackType}
	var within urn.Type
	if parent != nil {
		r.Parent, within = parent.URN, parent.URN.QualifiedType()
	}
	r.URN = urn.New("dev", "shop", within, typ, name)
	for _, a := range after {
		r.Dependencies = append(r.Dependencies, a.URN)
	}
	r.Inputs = property.NewMap(map[string]property.Value{"password": property.Secret(property.String("sw0rdfish"))})
	w.snapshot.Resources = append(w.snapshot.Resources, r)
	return r
}

// shop is a state with a network, a database in a component, and some sites that are components.
func shop(sites int) *world {
	w := &world{}
	root := w.add(nil, urn.RootStackType, "shop-dev")
	w.add(nil, urn.ProviderType("aws"), "default_6_0_0").ID = "p"
	eu := w.add(root, urn.ProviderType("aws"), "eu")
	eu.ID = "p1"
	network := w.add(root, "aws:ec2/vpc:Vpc", "main")
	network.Provider = string(eu.URN) + "::p1"
	db := w.add(root, "acme:data:Database", "db")
	instance := w.add(db, "aws:rds/instance:Instance", "db-main", network)
	instance.PropertyDependencies = map[string][]urn.URN{"vpcId": {network.URN}, "subnet": {network.URN}}
	for i := range sites {
		site := w.add(root, "acme:web:Site", fmt.Sprintf("site-%d", i))
		bucket := w.add(site, "aws:s3/bucket:Bucket", fmt.Sprintf("assets-%d", i))
		w.add(bucket, "aws:s3/bucketPolicy:BucketPolicy", fmt.Sprintf("policy-%d", i), bucket)
		w.add(site, "aws:lambda/function:Function", fmt.Sprintf("fn-%d", i), bucket, instance)
	}
	return w
}

// farm is a state with a component that is not small.
func farm() *world {
	w := &world{}
	all := w.add(w.add(nil, urn.RootStackType, "shop-dev"), "acme:web:Farm", "farm")
	for i := range smallComponent + 1 {
		w.add(all, "aws:ec2/instance:Instance", fmt.Sprintf("web-%d", i))
	}
	return w
}

// failed is an update that has failed.
func failed() *Diagram {
	of := func(parent urn.URN, typ urn.Type, name string, trouble Trouble, needs ...urn.URN) Resource {
		return Resource{
			URN: urn.New("dev", "shop", parent.QualifiedType(), typ, name), Parent: parent, Change: Create, Trouble: trouble, Component: typ.Package() == "acme",
			Dependencies: needs,
		}
	}
	site := of("", "acme:web:Site", "site", "")
	made, broken := of(site.URN, "aws:s3/bucket:Bucket", "made", ""), of(site.URN, "aws:s3/bucket:Bucket", "broken", Failed)
	return OfOperation("shop", "dev", []Resource{
		site, made, broken, of(site.URN, "aws:s3/bucket:Bucket", "left", NotReached, broken.URN), of("", "acme:web:Site", "gone", NotReached),
		of("", "aws:s3/bucket:Bucket", "lost", Unfinished), of("", "aws:s3/bucket:Bucket", "kept", Kept),
	})
}

// edit is a plan for shop(2) or more that changes something in each way.
func (w *world) edit() *state.Plan {
	p := &state.Plan{Resources: map[urn.URN]*state.PlannedResource{}}
	for _, r := range w.snapshot.Resources {
		ops := map[string][]string{
			"main": {"update"}, "db-main": {"create-replacement", "replace", "delete-replaced"}, "policy-1": {"delete"},
		}[r.URN.Name()]
		planned := &state.PlannedResource{Ops: ops, Uncertain: r.URN.Name() == "db-main"}
		if !slices.Equal(ops, []string{"delete"}) {
			planned.Goal = &state.PlannedGoal{
				Type: r.Type, Name: r.URN.Name(), Custom: r.Custom, Parent: r.Parent, Provider: r.Provider, Dependencies: r.Dependencies,
				PropertyDependencies: r.PropertyDependencies,
			}
		}
		p.Resources[r.URN] = planned
	}
	bucket := w.named("assets-0")
	made := urn.New("dev", "shop", "", "aws:s3/bucketObject:BucketObject", "new")
	p.Resources[made] = &state.PlannedResource{Ops: []string{"create"}, Goal: &state.PlannedGoal{
		Type: "aws:s3/bucketObject:BucketObject", Name: "new", Custom: true, Parent: w.snapshot.Resources[0].URN, Dependencies: []urn.URN{bucket.URN},
	}}
	return p
}

func (w *world) named(name string) *state.Resource {
	i := slices.IndexFunc(w.snapshot.Resources, func(r *state.Resource) bool { return r.URN.Name() == name })
	return w.snapshot.Resources[i]
}

func (w *world) diagram() *Diagram { return OfState("shop", "dev", &w.snapshot, nil) }

func (w *world) waves(t *testing.T) *Diagram {
	waves, err := sluice.DestroyWaves(&w.snapshot)
	require.NoError(t, err)
	return OfState("shop", "dev", &w.snapshot, waves)
}

func TestGoldenTexts(t *testing.T) {
	small, large := shop(2), shop(100)
	for name, drawing := range map[string]*Drawing{
		"small":        small.diagram().Draw(Options{}),
		"collapsed":    farm().diagram().Draw(Options{}),
		"large":        large.diagram().Draw(Options{Limit: 100}),
		"largeplan":    OfPlan("shop", "dev", &large.snapshot, large.edit()).Draw(Options{Limit: 100}),
		"failed":       failed().Draw(Options{}),
		"expanded":     small.diagram().Draw(Options{Expand: true}),
		"plan":         OfPlan("shop", "dev", &small.snapshot, small.edit()).Draw(Options{}),
		"planexpanded": OfPlan("shop", "dev", &small.snapshot, small.edit()).Draw(Options{Expand: true}),
		"waves":        small.waves(t).Draw(Options{}),
		"merged":       shop(300).diagram().Draw(Options{Limit: 50}),
		"mergedwaves":  shop(300).waves(t).Draw(Options{Limit: 50}),
		"around":       small.diagram().Around(small.named("assets-1").URN, 1).Draw(Options{Expand: true}),
		"empty":        OfState("shop", "dev", nil, nil).Draw(Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".dot", drawing.DOT())
			golden(t, name+".mmd", drawing.Mermaid())
			require.NotContains(t, drawing.DOT()+drawing.Mermaid(), "sw0rdfish")
		})
	}
	for name, d := range map[string]*Diagram{
		"plan.json":  OfPlan("shop", "dev", &small.snapshot, small.edit()),
		"waves.json": small.waves(t),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := d.JSON()
			require.NoError(t, err)
			golden(t, name, string(text))
			require.NotContains(t, string(text), "sw0rdfish")
		})
	}
}

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

func TestPicturesAreTheSameEachTime(t *testing.T) {
	w := shop(2)
	var pictures [2][][]byte
	for i := range pictures {
		d := OfPlan("shop", "dev", &w.snapshot, w.edit()).Draw(Options{Expand: true})
		svg, err := d.SVG(t.Context())
		require.NoError(t, err)
		image, err := d.PNG(t.Context())
		require.NoError(t, err)
		pictures[i] = [][]byte{svg, image}
	}
	require.Equal(t, pictures[0], pictures[1])
	require.Contains(t, html.UnescapeString(string(pictures[0][0])), "+- db-main (possibly)")
	image, err := png.Decode(bytes.NewReader(pictures[0][1]))
	require.NoError(t, err)
	require.Greater(t, image.Bounds().Dx(), 500)
	colours := map[string]bool{}
	for y := range image.Bounds().Dy() {
		for x := range image.Bounds().Dx() {
			r, g, b, _ := image.At(x, y).RGBA()
			colours[fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)] = true
		}
	}
	for _, c := range []Change{Create, Update, Replace, Delete} {
		require.True(t, colours[styles[c].fill], "the colour of %s", c)
	}
}

func TestALimitIsKept(t *testing.T) {
	for _, sites := range []int{10, 300} {
		d := shop(sites).diagram()
		for limit, want := range map[int]Merging{3 + sites: "", 3: OfPackage, 1: OfChange} {
			drawing := d.Draw(Options{Limit: limit, Expand: true})
			require.LessOrEqual(t, drawing.Boxes(), limit)
			require.Equal(t, want, drawing.Merged, "limit %d", limit)
			require.True(t, drawing.Collapsed)
		}
		require.False(t, d.Draw(Options{Expand: true}).Collapsed)
	}
	require.Equal(t, 33, shop(10).diagram().Draw(Options{}).Boxes(), "small components are open")
	require.Equal(t, 33, shop(10).diagram().Draw(Options{Limit: 33}).Boxes())
	require.Equal(t, 4, shop(10).diagram().Draw(Options{Limit: 12}).Boxes())
}

// wide returns a diagram of a resource that many others need.
func wide(n int) *Diagram {
	w := &world{}
	base := w.add(nil, "aws:ec2/vpc:Vpc", "base")
	for i := range n {
		w.add(nil, "aws:s3/bucket:Bucket", fmt.Sprintf("bucket<%d>", i), base)
	}
	return w.diagram()
}

func TestManySiblingsAreNamedInOneBoxThatIsNotTall(t *testing.T) {
	for _, o := range []Options{{}, {Limit: 100, Expand: true}} {
		drawing := wide(1000).Draw(o)
		require.Equal(t, 2, drawing.Boxes())
		require.Empty(t, drawing.Merged, "each is named")
		dot := drawing.DOT()
		for i := range 1000 {
			require.Contains(t, dot, fmt.Sprintf(">bucket&lt;%d&gt;<", i))
		}
		content, err := drawing.PNG(t.Context())
		require.NoError(t, err)
		size, err := png.DecodeConfig(bytes.NewReader(content))
		require.NoError(t, err)
		require.Less(t, size.Height, 2*size.Width)
		require.Less(t, size.Width, 3*size.Height)
		svg, err := drawing.SVG(t.Context())
		require.NoError(t, err)
		require.Contains(t, string(svg), ">bucket&lt;999&gt;</text>")
	}
	require.Equal(t, 13, wide(12).Draw(Options{}).Boxes(), "a few have boxes of their own")
	require.Contains(t, wide(1500).Draw(Options{Limit: 100, Expand: true}).DOT(), ">and 500 more<")
	require.NotContains(t, wide(1500).Draw(Options{}).DOT(), "more<")
}

// shapeOf returns the size of the picture of a drawing.
func shapeOf(t *testing.T, d *Drawing) (width, height int) {
	content, err := d.PNG(t.Context())
	require.NoError(t, err)
	size, err := png.DecodeConfig(bytes.NewReader(content))
	require.NoError(t, err)
	return size.Width, size.Height
}

func TestAWideLayerIsDividedIntoParts(t *testing.T) {
	w := &world{}
	hub := w.add(nil, "aws:ec2/vpc:Vpc", "hub")
	for i := range 100 {
		card := w.add(nil, "aws:ec2/networkInterface:NetworkInterface", fmt.Sprintf("card-%d", i), hub)
		w.add(nil, "aws:ec2/instance:Instance", fmt.Sprintf("web-%d", i), card, hub)
	}
	drawing := w.diagram().Draw(Options{})
	require.Equal(t, 201, drawing.Boxes())
	dot := drawing.DOT()
	require.Equal(t, 100, strings.Count(dot, " -> "), "those within parts are drawn")
	require.Equal(t, 200, strings.Count(dot, `\nneeds hub"`), "the others are named")
	width, height := shapeOf(t, drawing)
	require.Less(t, height, 2*width)
	require.Less(t, width, 3*height)
	require.Equal(t, 300, strings.Count(drawing.Mermaid(), " --> "))
}

func TestAManifoldWaveIsAFewBoxes(t *testing.T) {
	w := &world{}
	var waves [2][]*state.Resource
	for i := range 200 {
		card := w.add(nil, "aws:ec2/networkInterface:NetworkInterface", fmt.Sprintf("card-%d", i))
		waves[1] = append(waves[1], card)
		waves[0] = append(waves[0], w.add(nil, "aws:ec2/instance:Instance", fmt.Sprintf("web-%d", i), card))
	}
	drawing := OfState("shop", "dev", &w.snapshot, waves[:]).Draw(Options{})
	require.Equal(t, 2, drawing.Boxes())
	require.Contains(t, drawing.DOT(), ">web-199<")
	width, height := shapeOf(t, drawing)
	require.Less(t, height, 2*width)
}

func TestPartsAreSmallAndLeaveNothingOut(t *testing.T) {
	for name, from := range map[string]func(i int) []int{
		"a tree":     func(i int) []int { return []int{(i - 1) / 3} },
		"a mesh":     func(i int) []int { return []int{i * 7 % (i/2 + 1), i * 11 % (i/2 + 1)} },
		"a chain":    func(i int) []int { return []int{i - 1} },
		"everything": func(i int) []int { return []int{0, i - 1} },
	} {
		t.Run(name, func(t *testing.T) {
			d := &Drawing{boxes: make([]box, 300)}
			for i := range d.boxes {
				d.boxes[i].frame = none
				if i == 0 {
					continue
				}
				for _, j := range slices.Compact(slices.Sorted(slices.Values(from(i)))) {
					d.arrows = append(d.arrows, arrow{from: j, to: i})
				}
			}
			slices.SortFunc(d.arrows, func(a, b arrow) int { return a.from - b.from })
			got := divide(d)
			p := newParts(d)
			for _, a := range got.drawn {
				p.unite(a.from, a.to)
			}
			for i := range d.boxes {
				require.LessOrEqual(t, p.size[p.find(i)], maxPart)
			}
			require.Len(t, slices.Concat(append(got.named, got.drawn)...), len(d.arrows))
			require.Positive(t, got.columns)
		})
	}
}

func TestWhatDidNotHappenIsNeitherColouredNorCounted(t *testing.T) {
	var rs []Resource
	for name, trouble := range map[string]Trouble{"made": "", "broken": Failed, "left": NotReached} {
		rs = append(rs, Resource{URN: urn.New("dev", "shop", "", "aws:s3/bucket:Bucket", name), Change: Create, Trouble: trouble})
	}
	drawing := OfOperation("shop", "dev", rs).Draw(Options{})
	dot := drawing.DOT()
	require.Contains(t, dot, `label="+ create\l"`, "a report has the counts")
	for name, fill := range map[string]string{"made": styles[Create].fill, "broken (failed)": failedStyle.fill, "left (not reached)": skippedStyle.fill} {
		require.Regexp(t, `label="\+ `+regexp.QuoteMeta(name)+`.*fillcolor="`+fill+`"`, dot)
	}
	require.Equal(t, 1, strings.Count(drawing.Mermaid(), ":::to-create"))
}

func TestHostileNamesAreVisible(t *testing.T) {
	const evil = "a\u202eb\x1b[31m\"]; end --> <script>&#x202e;`*\\N\\\nend"
	w := &world{}
	root := w.add(nil, urn.RootStackType, "shop-dev")
	w.add(w.add(root, "acme:x:X", evil), "aws:s3/bucket:Bucket", evil+strings.Repeat("x", 10_000))
	d := w.diagram()
	drawing := d.Draw(Options{Expand: true})
	svg, err := drawing.SVG(t.Context())
	require.NoError(t, err)
	_, err = drawing.PNG(t.Context())
	require.NoError(t, err)
	text, err := d.JSON()
	require.NoError(t, err)
	for _, out := range []string{string(svg), drawing.DOT(), drawing.Mermaid(), string(text)} {
		for _, hidden := range []string{"\u202e", "\x1b"} {
			require.NotContains(t, out, hidden)
		}
	}
	require.NotContains(t, string(svg), "<script>")
	require.Less(t, len(svg), 20_000)
	shown := ""
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if chars, is := token.(xml.CharData); is {
			shown += string(chars)
		}
	}
	require.NotContains(t, shown, "\u202e")
	require.Contains(t, shown, `<script>&#x202e;`)
	require.NotContains(t, drawing.Mermaid(), `"]; end`)
	require.Equal(t, `"#45; a<br/>1#46; b"`, mermaidLabel("- a\n1. b"), "no lists of Markdown")
	var doc document
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Equal(t, evil, doc.Nodes[0].Name, "names in JSON are exact")
}

func TestARenamedResourceIsOneNode(t *testing.T) {
	w := shop(0)
	old := w.named("main")
	renamed := urn.New("dev", "shop", "", old.Type, "network")
	p := &state.Plan{Resources: map[urn.URN]*state.PlannedResource{renamed: {Ops: []string{"same"}, Goal: &state.PlannedGoal{
		Type: old.Type, Name: "network", Custom: true, Parent: old.Parent, Aliases: []urn.Alias{{URN: old.URN}},
	}}}}
	d := OfPlan("shop", "dev", &w.snapshot, p)
	require.Contains(t, d.URNs(), renamed)
	require.NotContains(t, d.URNs(), old.URN)
	at := slices.Index(d.URNs(), renamed)
	require.True(t, slices.ContainsFunc(d.Edges, func(e Edge) bool { return e.On == at && d.Nodes[e.Node].Name == "db-main" }),
		"what needed it by its old name still does")
}

func TestAroundCountsSteps(t *testing.T) {
	w := shop(2)
	names := func(d *Diagram) []string {
		var out []string
		for _, n := range d.Nodes {
			if !n.Component {
				out = append(out, n.Name)
			}
		}
		return out
	}
	d := w.diagram()
	fn := w.named("fn-0").URN
	require.Equal(t, []string{"fn-0"}, names(d.Around(fn, 0)))
	require.Equal(t, []string{"db-main", "assets-0", "fn-0"}, names(d.Around(fn, 1)))
	require.Equal(t, []string{"main", "db-main", "assets-0", "fn-0"}, names(d.Around(fn, 2)))
	require.Equal(t, []string{"assets-1", "policy-1", "fn-1"}, names(d.Around(w.named("site-1").URN, 0)))
	require.Equal(t, []string{"main", "db-main", "fn-0", "fn-1"}, names(d.Around(w.named("db").URN, 1)))
}

func TestDamagedStatesAreDrawn(t *testing.T) {
	w := shop(1)
	a, b := w.named("site-0"), w.named("assets-0")
	a.Parent = b.URN
	b.Dependencies = append(b.Dependencies, b.URN, "urn:pulumi:dev::shop::aws:x:X::gone")
	copied := b.Clone()
	copied.Delete = true
	w.snapshot.Resources = append(w.snapshot.Resources, copied)
	d := w.diagram()
	require.Contains(t, d.Draw(Options{Expand: true}).DOT(), "assets-0 (old copy)")
	require.NotEmpty(t, d.Draw(Options{}).Mermaid())
}
