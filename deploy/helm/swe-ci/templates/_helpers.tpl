{{- define "swe-ci.name" -}}
{{- if contains "swe-ci" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-swe-ci" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "swe-ci.labels" -}}
app.kubernetes.io/name: swe-ci
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "swe-ci.allLabels" -}}
{{ include "swe-ci.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "swe-ci.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "swe-ci.kubeVersion" -}}
{{ .Values.kubeVersion | default .Capabilities.KubeVersion.Version | trimPrefix "v" }}
{{- end }}

{{/* "yes" from Kubernetes 1.29 on: init containers that stay, start first and end last. */}}
{{- define "swe-ci.nativeSidecars" -}}
{{ if semverCompare ">=1.29.0-0" (include "swe-ci.kubeVersion" .) }}yes{{ end }}
{{- end }}

{{- define "swe-ci.secret" -}}
{{ .Values.existingSecret | default (include "swe-ci.name" .) }}
{{- end }}

{{- define "swe-ci.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "swe-ci.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{/* New pods when a variable changes. */}}
{{- define "swe-ci.podAnnotations" -}}
checksum/variables: {{ list .Values.secret .Values.env | toJson | sha256sum }}
{{- end }}

{{- define "swe-ci.envFrom" -}}
- configMapRef: { name: {{ include "swe-ci.name" . }} }
- secretRef: { name: {{ include "swe-ci.secret" . }} }
{{- end }}

{{/* "yes" when the engine's images outlive the pod. No fsGroup anywhere: it would
     change the owners of files in images. Hence no claim for an engine without root. */}}
{{- define "swe-ci.engineClaim" -}}
{{ if and (eq .Values.engine.kind "sidecar") .Values.engine.storage.size }}yes{{ end }}
{{- end }}

{{/* The worker's pod, of the StatefulSet and of KEDA's jobs: dict "root" . "once" BOOL "data" VOLUME */}}
{{- define "swe-ci.workerPod" -}}
{{- $root := .root -}}
{{- $v := $root.Values -}}
{{- $kind := $v.engine.kind -}}
{{- $sidecar := ne $kind "node" -}}
{{- $native := include "swe-ci.nativeSidecars" $root -}}
{{- $user := ternary 0 (ternary 1000 10001 (eq $kind "rootless")) (eq $kind "node") -}}
serviceAccountName: {{ include "swe-ci.serviceAccount" $root }}
enableServiceLinks: false
automountServiceAccountToken: {{ not (empty $v.serviceAccount.annotations) }}
# After SIGTERM the steps in flight may end.
terminationGracePeriodSeconds: {{ add $v.worker.grace 30 }}
{{- with $v.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $v.worker.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $v.worker.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
affinity:
  podAntiAffinity:
    {{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (dict "app.kubernetes.io/instance" $root.Release.Name "app.kubernetes.io/component" "worker")) }}
    {{- if $sidecar }}
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm: {{ toYaml $term | nindent 10 }}
    {{- else }}
    # One worker for each node's engine and folder.
    requiredDuringSchedulingIgnoredDuringExecution:
      - {{ toYaml $term | nindent 8 | trim }}
    {{- end }}
{{- if $sidecar }}
{{- if $native }}
initContainers:
{{- else }}
containers:
{{- end }}
  - name: engine
    image: {{ ternary $v.engine.rootlessImage $v.engine.image (eq $kind "rootless") }}
    {{- if $native }}
    restartPolicy: Always
    {{- end }}
    args:
      - dockerd
      - --host=unix:///run/engine/docker.sock
      {{- if eq $kind "sidecar" }}
      - --group={{ $user }}
      {{- end }}
      {{- range $v.engine.insecureRegistries }}
      - --insecure-registry={{ . }}
      {{- end }}
    env:
      # No TCP, and no certificates for it.
      - { name: DOCKER_TLS_CERTDIR, value: "" }
    securityContext:
      privileged: true
      runAsUser: {{ ternary 1000 0 (eq $kind "rootless") }}
    {{- if not $native }}
    lifecycle:
      # All containers are told to stop at once, and the worker still needs it.
      preStop: { exec: { command: [sleep, "{{ add $v.worker.grace 5 }}"] } }
    {{- end }}
    startupProbe:
      exec: { command: [docker, --host, unix:///run/engine/docker.sock, version] }
      periodSeconds: 2
      timeoutSeconds: 10
      failureThreshold: 60
    livenessProbe:
      exec: { command: [docker, --host, unix:///run/engine/docker.sock, version] }
      periodSeconds: 30
      timeoutSeconds: 20
      failureThreshold: 5
    resources: {{ toYaml $v.engine.resources | nindent 6 }}
    volumeMounts:
      - { name: engine-socket, mountPath: /run/engine }
      - { name: engine, mountPath: {{ ternary "/home/rootless/.local/share/docker" "/var/lib/docker" (eq $kind "rootless") }} }
      # The same path as the worker's: the engine mounts sockets from there.
      - { name: data, mountPath: /var/lib/swe-ci }
{{- end }}
{{- if or $native (not $sidecar) }}
containers:
{{- end }}
  - name: worker
    image: {{ include "swe-ci.image" $root }}
    imagePullPolicy: {{ $v.image.pullPolicy }}
    args: [work{{ if .once }}, --until-idle{{ end }}]
    envFrom: {{ include "swe-ci.envFrom" $root | nindent 6 }}
    env:
      - name: SWE_CI_WORKER_NAME
        valueFrom: { fieldRef: { fieldPath: metadata.name } }
      - { name: SWE_CI_DATA, value: {{ ternary "/var/lib/swe-ci/worker" (printf "%s/worker" $v.engine.nodeFolder) $sidecar }} }
      - { name: SWE_CI_SLOTS, value: {{ $v.worker.slots | quote }} }
      - { name: SWE_CI_GRACE, value: {{ $v.worker.grace | quote }} }
      {{- with $v.worker.labels }}
      - { name: SWE_CI_LABELS, value: {{ . | quote }} }
      {{- end }}
      - { name: DOCKER_HOST, value: {{ ternary "unix:///run/engine/docker.sock" "unix:///var/run/docker.sock" $sidecar }} }
      {{- range $name, $value := $v.worker.env }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
    securityContext:
      runAsUser: {{ $user }}
      runAsGroup: {{ $user }}
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      {{- if $sidecar }}
      runAsNonRoot: true
      capabilities: { drop: [ALL] }
      {{- end }}
    resources: {{ toYaml $v.worker.resources | nindent 6 }}
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      {{- if $sidecar }}
      - { name: engine-socket, mountPath: /run/engine }
      - { name: data, mountPath: /var/lib/swe-ci }
      {{- else }}
      - { name: engine-socket, mountPath: /var/run/docker.sock }
      # The same path as on the node: its engine mounts sockets from there.
      - { name: data, mountPath: {{ $v.engine.nodeFolder }} }
      {{- end }}
volumes:
  - { name: tmp, emptyDir: {} }
  {{- if $sidecar }}
  - { name: engine-socket, emptyDir: {} }
  - { name: data, emptyDir: {} }
  {{- if or .once (not (include "swe-ci.engineClaim" $root)) }}
  - { name: engine, emptyDir: {} }
  {{- end }}
  {{- else }}
  - { name: engine-socket, hostPath: { path: {{ $v.engine.socket }}, type: Socket } }
  - { name: data, hostPath: { path: {{ $v.engine.nodeFolder }}, type: DirectoryOrCreate } }
  {{- end }}
{{- end }}
