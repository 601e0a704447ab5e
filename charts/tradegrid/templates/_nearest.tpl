{{/* The word that was probably meant, or nothing. Takes word and words. */}}
{{- define "tradegrid.nearest" -}}
{{- $nearest := "" -}}
{{- $least := max 2 (div (len .word) 3) | add1 -}}
{{- range .words -}}
{{- if and (le (len .) (add (len $.word) 3 | int)) (ge (len .) (sub (len $.word) 3 | int)) -}}
{{- $distance := include "tradegrid.distance" (dict "a" (lower $.word) "b" .) | int64 -}}
{{- if lt $distance $least -}}{{- $least = $distance -}}{{- $nearest = . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $nearest -}}
{{- end -}}

{{/* Letters that differ between two words (Levenshtein). Takes a and b. */}}
{{- define "tradegrid.distance" -}}
{{- $row := until (len .b | add1 | int) -}}
{{- range $i, $x := splitList "" .a -}}
{{- $next := list (add1 $i) -}}
{{- range $j, $y := splitList "" $.b -}}
{{- $change := add (index $row $j) (ternary 0 1 (eq $x $y)) -}}
{{- $next = append $next (min $change (index $next $j | add1) (index $row (add1 $j | int) | add1)) -}}
{{- end -}}
{{- $row = $next -}}
{{- end -}}
{{- last $row -}}
{{- end -}}
