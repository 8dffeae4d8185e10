{{- define "furze.labels" -}}
app.kubernetes.io/name: furze
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* All that the pods of servers and workers share. Takes root, role, settings, tag and the volume of /data, if it has to be named. */}}
{{- define "furze.pod" -}}
{{- $root := .root -}}
metadata:
  labels: {{- include "furze.labels" . | nindent 4 }}
  annotations:
    # A change of the configuration starts the pods anew.
    checksum/config: {{ $root.Values.config | sha256sum }}
    {{- with .settings.annotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  # Variables such as FURZE_SERVICE_HOST serve nobody here.
  enableServiceLinks: false
  automountServiceAccountToken: false
  {{- with $root.Values.bucket.serviceAccount }}
  serviceAccountName: {{ . }}
  {{- end }}
  # Longer than the pause before the stop and [server] shutdown_timeout together.
  terminationGracePeriodSeconds: 45
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "furze.labels" $ | nindent 10 }}
    {{- end }}
  {{- with .settings.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .settings.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: furze
      image: {{ printf "%s:%s" $root.Values.image.repository .tag }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [serve, --config, /etc/furze/config/furze.toml, --role, {{ .role }}]
      env:
        - name: FURZE_NODE_NAME
          valueFrom:
            fieldRef: { fieldPath: metadata.name }
        - name: FURZE_SERVER_API_KEY
          valueFrom:
            secretKeyRef: { name: {{ $root.Values.secret }}, key: api-key }
        - name: FURZE_DATABASE_DATA_STORE
          valueFrom:
            secretKeyRef: { name: {{ $root.Values.secret }}, key: data-store }
        - name: FURZE_DATABASE_REPLICA
          value: lmdb:///data/replica
        - name: FURZE_DATABASE_CACHE_STORE
          {{- if $root.Values.valkey.enabled }}
          value: redis://{{ $root.Release.Name }}-valkey:6379/0
          {{- else }}
          valueFrom:
            secretKeyRef: { name: {{ $root.Values.secret }}, key: cache-store }
          {{- end }}
        {{- with $root.Values.bucket.url }}
        - name: FURZE_DATABASE_MODEL_STORE
          value: {{ . | quote }}
        {{- end }}
      {{- with $root.Values.bucket.secret }}
      envFrom:
        - secretRef: { name: {{ . }} }
      {{- end }}
      ports:
        - { name: http, containerPort: 8087 }
      # The port is open from the first seconds on; a copy of the data may take as long as it takes.
      startupProbe:
        httpGet: { path: /api/health/live, port: http }
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: /api/health/ready, port: http }
        periodSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /api/health/live, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        preStop:
          # The service stops sending requests here before the process stops taking them.
          exec: { command: [node, -e, "setTimeout(() => {}, 5000)"] }
      resources: {{- toYaml .settings.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: config, mountPath: /etc/furze/config, readOnly: true }
        {{- if $root.Values.caSecret }}
        - { name: ca, mountPath: /etc/furze/ca, readOnly: true }
        {{- end }}
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: config
      configMap: { name: {{ $root.Release.Name }} }
    {{- if $root.Values.caSecret }}
    - name: ca
      secret:
        secretName: {{ $root.Values.caSecret }}
        items: [{ key: ca.crt, path: ca.crt }]
    {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- with .data }}
    - name: data
      emptyDir: { sizeLimit: {{ . }} }
    {{- end }}
{{- end }}
