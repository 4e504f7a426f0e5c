{{- define "ingress-manager.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The name of the hook's objects. */}}
{{- define "ingress-manager.fullname" -}}
{{- $name := include "ingress-manager.name" . }}
{{- $generated := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $generated | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The labels by which the hook's pods are selected: they must never change. */}}
{{- define "ingress-manager.selectorLabels" -}}
app.kubernetes.io/name: {{ include "ingress-manager.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- /* The labels by which the webhook's pods are selected, which the hook's Service must not know. */}}
{{- define "ingress-manager.admissionLabels" -}}
app.kubernetes.io/name: {{ printf "%s-admission" (include "ingress-manager.name" . | trunc 53 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- /* The labels of every object. Of labels with the same key, merge takes the first. */}}
{{- define "ingress-manager.labels" -}}
{{- $own := include "ingress-manager.selectorLabels" . | fromYaml }}
{{- $chart := printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- $_ := set $own "helm.sh/chart" $chart }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{- /* The labels of the hook's objects. */}}
{{- define "ingress-manager.hookLabels" -}}
{{- merge (dict "app.kubernetes.io/component" "hook") (include "ingress-manager.labels" . | fromYaml) | toYaml }}
{{- end }}

{{- /* The labels of the hook's pods. */}}
{{- define "ingress-manager.podLabels" -}}
{{- $selected := include "ingress-manager.selectorLabels" . | fromYaml }}
{{- merge $selected .Values.podLabels (include "ingress-manager.hookLabels" . | fromYaml) | toYaml }}
{{- end }}

{{- /* The constraints by which pods are spread. `selected` are the pods' labels. */}}
{{- define "ingress-manager.spread" -}}
{{- $made := list }}
{{- range .constraints }}
{{- $made = append $made (hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" (dict "matchLabels" $.selected))) }}
{{- end }}
{{- toYaml $made }}
{{- end }}

{{- define "ingress-manager.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* The ConfigMap with the settings. Its name ends in a hash of them, so that a change rolls the pods, and so that each
pod keeps the settings that it was started with. */}}
{{- define "ingress-manager.settingsName" -}}
{{ include "ingress-manager.fullname" . | trunc 43 }}-settings-{{ toYaml .Values.settings | sha256sum | trunc 10 }}
{{- end }}

{{- /* The objects of what files/ links to: of the kustomize folders, without what only kustomize reads. */}}
{{- define "ingress-manager.objects" -}}
{{- $made := list }}
{{- range $path, $_ := .root.Files.Glob .files }}
{{- range $document := splitList "\n---\n" ($.root.Files.Get $path) }}
{{- $object := fromYaml $document }}
{{- if not (hasPrefix "kustomize." $object.apiVersion) }}
{{- $made = append $made $object }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $made }}
{{- end }}
