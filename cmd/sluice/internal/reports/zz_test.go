package reports_test
import ("testing";"os";"fmt";"time";"github.com/stretchr/testify/require")
func TestZZ(t *testing.T) {
	os.MkdirAll("/tmp/shots", 0o777)
	require.NoError(t, os.WriteFile("/tmp/shots/r5.html", []byte(page(t, built())), 0o644))
	for _, n := range []int{100, 1000, 3000, 100000} {
		d := large(n)
		s := time.Now()
		require.NoError(t, os.WriteFile(fmt.Sprintf("/tmp/shots/r%d.html", n), []byte(page(t, d)), 0o644))
		fmt.Println(n, time.Since(s))
	}
}
