package docs

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Programs around the examples of docs/verify.md. Each reads cases of four lines (secret, current signature, previous
// signature, body in base64; an empty signature is a header that is missing) and prints true or false for each.
var verifiers = map[string]struct {
	fence, file, program string // % is the example
	run                  string
}{
	"Node": {"js", "verify.mjs", `%
import { readFileSync } from "node:fs";
const lines = readFileSync(0, "utf8").split("\n");
for (let i = 0; i + 4 <= lines.length; i += 4) {
  const headers = {};
  if (lines[i + 1]) headers["x-svc-signature"] = lines[i + 1];
  if (lines[i + 2]) headers["x-svc-signature-previous"] = lines[i + 2];
  console.log(signed(lines[i], headers, Buffer.from(lines[i + 3], "base64")));
}
`, "node"},
	"Python": {"python", "verify.py", `%
import base64
import sys

lines = sys.stdin.read().split("\n")
for i in range(0, len(lines) - 3, 4):
    headers = {n: v for n, v in (("X-Svc-Signature", lines[i + 1]), ("X-Svc-Signature-Previous", lines[i + 2])) if v}
    print(str(signed(lines[i], headers, base64.b64decode(lines[i + 3]))).lower())
`, "python3"},
	"Java": {"java", "Verify.java", `import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.*;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
    %
    public static void main(String[] args) throws Exception {
        String[] lines = new String(System.in.readAllBytes(), UTF_8).split("\n", -1);
        for (int i = 0; i + 4 <= lines.length; i += 4) {
            Map<String, String> headers = new HashMap<>();
            if (!lines[i + 1].isEmpty()) headers.put("X-Svc-Signature", lines[i + 1]);
            if (!lines[i + 2].isEmpty()) headers.put("X-Svc-Signature-Previous", lines[i + 2]);
            System.out.println(signed(lines[i], headers::get, Base64.getDecoder().decode(lines[i + 3])));
        }
    }
}
`, "java"},
	"PHP": {"php", "verify.php", `<?php
%
$lines = explode("\n", file_get_contents('php://stdin'));
for ($i = 0; $i + 4 <= count($lines); $i += 4) {
    $server = [];
    if ($lines[$i + 1] !== '') $server['HTTP_X_SVC_SIGNATURE'] = $lines[$i + 1];
    if ($lines[$i + 2] !== '') $server['HTTP_X_SVC_SIGNATURE_PREVIOUS'] = $lines[$i + 2];
    echo signed($lines[$i], $server, base64_decode($lines[$i + 3])) ? "true\n" : "false\n";
}
`, "php"},
	"Ruby": {"ruby", "verify.rb", `%
lines = $stdin.read.force_encoding("UTF-8").split("\n", -1)
(0..lines.length - 4).step(4) do |i|
  env = {}
  env["HTTP_X_SVC_SIGNATURE"] = lines[i + 1] unless lines[i + 1].empty?
  env["HTTP_X_SVC_SIGNATURE_PREVIOUS"] = lines[i + 2] unless lines[i + 2].empty?
  puts signed(lines[i], env, lines[i + 3].unpack1("m0"))
end
`, "ruby"},
	"C#": {"csharp", "verify.cs", `using System.Security.Cryptography;
using System.Text;

var lines = Console.In.ReadToEnd().Split('\n');
for (var i = 0; i + 4 <= lines.Length; i += 4)
{
    var headers = new Dictionary<string, string>();
    if (lines[i + 1] != "") headers["X-Svc-Signature"] = lines[i + 1];
    if (lines[i + 2] != "") headers["X-Svc-Signature-Previous"] = lines[i + 2];
    Console.WriteLine(Signed(lines[i], name => headers.TryGetValue(name, out var value) ? value : null, Convert.FromBase64String(lines[i + 3])) ? "true" : "false");
}

%`, "dotnet"},
}

// missing is what the example needs and this machine lacks; empty if it can be run.
func missing(ctx context.Context, language, program string) string {
	if language == "Java" {
		program = "javac" // java alone runs no source
	}
	if _, err := exec.LookPath(program); err != nil {
		return program + " is not on PATH"
	}
	if language == "C#" {
		version, err := exec.CommandContext(ctx, program, "--version").Output()
		major, _, _ := strings.Cut(string(version), ".")
		if n, _ := strconv.Atoi(major); err != nil || n < 10 {
			return "earlier releases of .NET than 10 do not run a file"
		}
	}
	return ""
}

// Every example judges deliveries as senders sign them. One whose interpreter is missing is skipped by name.
func TestTheVerificationExamplesWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/verify.md"))
	require.NoError(t, err)
	require.Equal(t, len(verifiers), strings.Count(string(page), "\n## "), "an example without a program above")

	old, current, other := webhook.NewSecret(), webhook.NewSecret(), webhook.NewSecret()
	body := []byte("{\"event\":\"order.created\",\"data\":{\"name\":\"Žofie ☕\",\"note\":\"\\u0000\"}}")
	signature := func(current, previous string, body []byte) http.Header {
		signer, err := webhook.NewSigner(current, previous)
		require.NoError(t, err)
		h := http.Header{}
		signer.Sign(h, webhook.Attempt{Event: "order.created", Number: 1, At: time.Now()}, body)
		return h
	}
	rotating, after, foreign := signature(current, old, body), signature(current, "", body), http.Header{}
	foreign.Set("X-Svc-Signature", "sha256=é")
	cases := []struct {
		secret string
		header http.Header
		body   []byte
		want   bool
	}{
		{current, after, body, true},
		{current, rotating, body, true},
		{old, rotating, body, true},
		{other, rotating, body, false},
		{old, after, body, false},
		{current, rotating, append(bytes.Clone(body), ' '), false},
		{current, after, nil, false},
		{current, http.Header{}, body, false},
		{current, foreign, body, false},
	}
	var input, want strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&input, "%s\n%s\n%s\n%s\n", c.secret, c.header.Get("X-Svc-Signature"), c.header.Get("X-Svc-Signature-Previous"), base64.StdEncoding.EncodeToString(c.body))
		fmt.Fprintln(&want, c.want)
	}
	for language, v := range verifiers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			_, section, found := strings.Cut(string(page), "\n## "+language+"\n")
			require.True(t, found)
			_, example, found := strings.Cut(section, "```"+v.fence+"\n")
			require.True(t, found)
			example, _, _ = strings.Cut(example, "```")
			if why := missing(t.Context(), language, v.run); why != "" {
				t.Skipf("the example in %s is not run: %s", language, why)
			}
			file := filepath.Join(t.TempDir(), v.file)
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(v.program, "%", example, 1)), 0o600))
			cmd := exec.CommandContext(t.Context(), v.run, file)
			cmd.Stdin = strings.NewReader(input.String())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, want.String(), strings.ReplaceAll(string(out), "\r", ""))
		})
	}
}
