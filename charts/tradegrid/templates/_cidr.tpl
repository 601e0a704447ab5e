{{/* Networks in CIDR notation; Helm has no functions for them. */}}

{{- define "tradegrid.isCIDR" -}}
{{- $octet := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" -}}
{{- $groups := "[0-9a-f]{1,4}(:[0-9a-f]{1,4})" -}}
{{- $ipv4 := printf "^(%s[.]){3}%s/([12]?[0-9]|3[0-2])$" $octet $octet -}}
{{- $ipv6 := printf "^(%s{7}|(%s{0,6})?::(%s{0,6})?)/([1-9]?[0-9]|1[01][0-9]|12[0-8])$" $groups $groups $groups -}}
{{- $address := splitList "/" . | first -}}
{{- $tooLong := and (contains "::" .) (gt (splitList ":" $address | compact | len) 7) -}}
{{- if and (regexMatch $ipv4 . | or (regexMatch $ipv6 (lower .))) (not $tooLong) -}}true{{- end -}}
{{- end -}}

{{/* The prefix of a network in binary, such as 00001010 for 10.0.0.0/8. */}}
{{- define "tradegrid.networkBits" -}}
{{- $address := splitList "/" . | first | lower -}}
{{- $hex := "" -}}
{{- if contains ":" $address -}}
{{- $halves := splitList "::" $address -}}
{{- $head := splitList ":" (first $halves) | compact -}}
{{- $tail := splitList ":" (rest $halves | join "") | compact -}}
{{- $zeros := repeat (sub 8 (len (concat $head $tail)) | max 0 | int) ":0" | splitList ":" | compact -}}
{{- range concat $head $zeros $tail -}}
{{- $hex = printf "%s%s" $hex (printf "0000%s" . | trunc -4) -}}
{{- end -}}
{{- else -}}
{{- range splitList "." $address -}}
{{- $hex = printf "%s%02x" $hex (int .) -}}
{{- end -}}
{{- end -}}
{{- $digits := dict "0" "0000" "1" "0001" "2" "0010" "3" "0011" "4" "0100" "5" "0101" "6" "0110" "7" "0111"
  "8" "1000" "9" "1001" "a" "1010" "b" "1011" "c" "1100" "d" "1101" "e" "1110" "f" "1111" -}}
{{- $bits := "" -}}
{{- range splitList "" $hex -}}
{{- $bits = printf "%s%s" $bits (get $digits .) -}}
{{- end -}}
{{- substr 0 (splitList "/" . | last | int) $bits -}}
{{- end -}}

{{/* Those of the networks that are strict subsets of cidr, as YAML. Takes cidr and networks. */}}
{{- define "tradegrid.networksInside" -}}
{{- $outer := include "tradegrid.networkBits" .cidr -}}
{{- $inside := list -}}
{{- range .networks -}}
{{- $inner := include "tradegrid.networkBits" . -}}
{{- if and (eq (contains ":" .) (contains ":" $.cidr)) (gt (len $inner) (len $outer)) (hasPrefix $outer $inner) -}}
{{- $inside = append $inside . -}}
{{- end -}}
{{- end -}}
{{- toYaml $inside -}}
{{- end -}}
