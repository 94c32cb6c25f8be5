// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var screenshots = flag.Bool("screenshots", false, "take the screenshots of the documents again, with Chromium")

// screenshot is an image of a report that a command of TestDocumentedCommands' kind made.
type screenshot struct {
	image         string
	commands      []string
	page          string
	seed          int
	width, height string
	dark          bool
}

// shots are the screenshots of the documents: the demo as the README shows it, and a road
// network with one source.
func shots() []screenshot {
	demo := []string{"graphcloak demo"}
	roads := []string{"graphcloak run --from folder:roads --source-property source --mode stats --tau 8 --allocation uniform " +
		"--epsilon 20 --delta 0.0003 --report roads.html"}
	return []screenshot{
		{"report.png", demo, "graphcloak-demo/report.html", 40000, "1100", "1560", false},
		{"report-dark.png", demo, "graphcloak-demo/report.html", 40000, "1100", "1560", true},
		{"report-roads.png", roads, "roads.html", 60000, "1100", "1640", false},
	}
}

// TestScreenshots takes the screenshots again under -screenshots: from reports of the
// command, with the randomness of a documented run.
func TestScreenshots(t *testing.T) {
	if !*screenshots {
		t.Skip("-screenshots takes them; TestImages looks at those that are there")
	}
	bin := seededCommand(t)
	for _, shot := range shots() {
		t.Run(shot.image, func(t *testing.T) {
			dir := t.TempDir()
			roads(t, filepath.Join(dir, "roads"))
			s := shell{dir: dir, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
				"GRAPHCLOAK_FORMAT=table"), seed: shot.seed}
			for _, command := range shot.commands {
				s.prepare(t, command)
			}
			raw := filepath.Join(dir, "raw.png")
			args := []string{
				"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
				"--window-size=" + shot.width + "," + shot.height, "--screenshot=" + raw,
			}
			if shot.dark {
				args = append(args, "--blink-settings=preferredColorScheme=0")
			}
			if out, err := exec.Command("chromium", append(args, "file://"+filepath.Join(dir, shot.page))...).CombinedOutput(); err != nil {
				t.Fatalf("chromium: %v\n%s", err, out)
			}
			shrink(t, raw, filepath.Join("..", "..", "docs", "images", shot.image))
		})
	}
}

// roads copies the roads of Minnesota, with a source near the middle of the state.
func roads(t *testing.T, dir string) {
	t.Helper()
	from := filepath.Join("..", "..", "examples", "data", "minnesota")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "nodes.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	for i, row := range rows {
		value := "0"
		switch i {
		case 0:
			value = "source"
		case 1200:
			value = "1"
		}
		if err := w.Write(append(row, value)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shrink writes an image in its 256 commonest colours.
func shrink(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[color.RGBA]int)
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(src.At(x, y)).(color.RGBA) }
	box := src.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	var colours color.Palette
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int {
		x, y := a.(color.RGBA), b.(color.RGBA)
		return cmp.Or(count[y]-count[x], int(x.R)-int(y.R), int(x.G)-int(y.G), int(x.B)-int(y.B))
	})
	few := image.NewPaletted(box, colours[:min(256, len(colours))])
	index := make(map[color.RGBA]uint8)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := at(x, y)
			k, ok := index[c]
			if !ok {
				k = uint8(few.Palette.Index(c))
				index[c] = k
			}
			few.SetColorIndex(x, y, k)
		}
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, few); err != nil {
		t.Fatal(err)
	}
}

// imageShown is an image of a page.
var imageShown = regexp.MustCompile(`!\[[^\]]+\]\(([^)]+\.png)\)`)

// TestImages: every image that a page shows is there and is no larger than a reader wants
// to wait for; what a page shows of a report can be taken again; no image is unused.
func TestImages(t *testing.T) {
	const most = 200 << 10
	root := filepath.Join("..", "..")
	shown := make(map[string]bool)
	pages := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imageShown.FindAllSubmatch(text, -1) {
			path := filepath.Join(filepath.Dir(page), string(m[1]))
			shown[filepath.Base(path)] = true
			f, err := os.Open(path)
			if err != nil {
				t.Errorf("%s shows %s: %v", page, m[1], err)
				continue
			}
			if _, err := png.DecodeConfig(f); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if info, err := f.Stat(); err != nil || info.Size() > most {
				t.Errorf("%s has %d bytes, want at most %d (%v)", path, info.Size(), most, err)
			}
			f.Close()
		}
	}
	files, err := os.ReadDir(filepath.Join(root, "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !shown[f.Name()] {
			t.Errorf("no page shows %s", f.Name())
		}
	}
	for _, shot := range shots() {
		if !shown[shot.image] {
			t.Errorf("no page shows the screenshot %s", shot.image)
		}
	}
}
