import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { defaultConfig } from '../../src/config/config.ts';
import { CONFIG_KEYS } from '../../src/config/keys.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEPLOY = join(ROOT, 'deploy');
const PORT = defaultConfig().server.port;
const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');

const files = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.\w+$|file$/.test(name),
);

describe('deploy/', () => {
  it('names no variable that furze does not know', () => {
    const known = new Set([
      ...CONFIG_KEYS.map(({ variable }) => variable),
      // The single executable's own, and one that Kubernetes would inject.
      'FURZE_UNPACK_DIR',
      'FURZE_SERVICE_HOST',
    ]);
    for (const file of files) {
      const named = read(file).match(/\bFURZE_[A-Z_]+\b/g) ?? [];
      expect([file, named.filter((name) => !known.has(name))]).toEqual([file, []]);
    }
  });

  it('gives an orderly stop the time that it may take', () => {
    const seconds = defaultConfig().server.shutdown_timeout / 1000;
    const [stop] = /TimeoutStopSec=(\d+)s/.exec(read('systemd/furze.service'))!.slice(1).map(Number);
    expect(stop).toBeGreaterThan(seconds);
    const { services } = parse(read('compose/compose.yaml'));
    expect(Number.parseInt(services.furze.stop_grace_period, 10)).toBeGreaterThan(seconds);
    expect(pod().terminationGracePeriodSeconds).toBeGreaterThan(seconds);
  });

  it('copies into the image what the build needs, and nothing that is not there', () => {
    const allowed = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!)[^*\n]+$/gm)!;
    for (const path of allowed) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    expect(allowed).toEqual(
      expect.arrayContaining(['package.json', 'package-lock.json', 'src', 'scripts', 'assembly']),
    );
  });
});

describe('the container image', () => {
  const dockerfile = read('Dockerfile');

  it('runs as a user of its own, with one volume and a health check', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last.match(/^VOLUME .*$/gm)).toEqual(['VOLUME /data']);
    expect(last).toMatch(/^HEALTHCHECK .*\n.*"status"/m);
    expect(last).toContain(`EXPOSE ${PORT}`);
    expect(last).not.toMatch(/npm|apt-get/);
  });
});

describe('the compose file', () => {
  const { services, volumes, secrets } = parse(read('compose/compose.yaml'));

  it('keeps the file system read-only but for the volume', () => {
    expect(services.furze.read_only).toBe(true);
    expect(services.furze.cap_drop).toEqual(['ALL']);
    expect(services.furze.volumes).toEqual(['furze-data:/data']);
    expect(services.furze.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
  });

  it('mounts files that are there, and volumes and secrets that it declares', () => {
    for (const service of Object.values<{ volumes: string[]; secrets?: string[] }>(services)) {
      for (const secret of service.secrets ?? []) expect(Object.keys(secrets)).toContain(secret);
      for (const volume of service.volumes) {
        const source = volume.split(':')[0]!;
        if (source.startsWith('.')) expect(existsSync(resolve(DEPLOY, 'compose', source))).toBe(true);
        else expect(Object.keys(volumes)).toContain(source);
      }
    }
  });

  it('lets Prometheus read the metrics of a service that has a key', () => {
    const { scrape_configs, rule_files } = parse(read('prometheus/prometheus.yml'));
    expect(scrape_configs[0].static_configs[0].targets).toEqual([`furze:${PORT}`]);
    expect(scrape_configs[0].http_headers['X-API-Key'].files).toEqual(['/run/secrets/furze-api-key']);
    for (const file of rule_files) expect(existsSync(join(DEPLOY, 'prometheus', file))).toBe(true);
  });
});

interface Pod {
  terminationGracePeriodSeconds: number;
  securityContext: Record<string, unknown>;
  containers: Record<string, Record<string, unknown>>[];
}

function manifests(): Record<string, ReturnType<typeof JSON.parse>> {
  const documents = parseAllDocuments(read('kubernetes/furze.yaml')).map((document) => document.toJS());
  return Object.fromEntries(documents.map((document) => [document.kind, document]));
}

function pod(): Pod {
  return manifests().Deployment.spec.template.spec;
}

describe('the Kubernetes manifests', () => {
  it('never run two processes on one folder', () => {
    const { Deployment, PersistentVolumeClaim } = manifests();
    expect(Deployment.spec.replicas).toBe(1);
    expect(Deployment.spec.strategy).toEqual({ type: 'Recreate' });
    expect(PersistentVolumeClaim.spec.accessModes).toEqual(['ReadWriteOncePod']);
  });

  it('run without rights, and are asked for health where the service answers it', () => {
    const { securityContext, containers } = pod();
    const [container] = containers;
    expect(securityContext.runAsNonRoot).toBe(true);
    expect(container!.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(container!.readinessProbe!.httpGet).toEqual({ path: '/api/health/ready', port: 'http' });
    expect(container!.livenessProbe!.httpGet).toEqual({ path: '/api/health/live', port: 'http' });
    expect(container!.ports).toEqual([{ name: 'http', containerPort: PORT }]);
  });

  it('select what they label', () => {
    const { Deployment, Service } = manifests();
    const labels = Deployment.spec.template.metadata.labels;
    expect(Deployment.spec.selector.matchLabels).toEqual(labels);
    expect(Service.spec.selector).toEqual(labels);
  });
});

describe('a cluster', () => {
  const compose = parse(read('compose/cluster.yaml'), { merge: true });
  const documents = parseAllDocuments(read('kubernetes/cluster.yaml')).map((document) => document.toJS());
  const named = (kind: string, name: string) =>
    documents.find((document) => document.kind === kind && document.metadata.name === name);
  const selectorOf = ({ selector, podSelector }: Record<string, ReturnType<typeof JSON.parse>>) =>
    (selector ?? podSelector).matchLabels;

  it('has servers that the proxy knows, and a worker, each with a folder of its own', () => {
    const nodes = Object.entries<Record<string, ReturnType<typeof JSON.parse>>>(compose.services).filter(
      ([, { image }]) => image === 'furze',
    );
    const roles = nodes.map(([name, { environment }]) => [name, environment.FURZE_NODE_ROLE]);
    expect(roles).toEqual([
      ['server1', 'server'],
      ['server2', 'server'],
      ['worker1', 'worker'],
    ]);
    const proxied = read('compose/haproxy.cfg').match(/(?<=^ {4}server \S+ )\S+/gm);
    expect(proxied).toEqual([`server1:${PORT}`, `server2:${PORT}`]);
    for (const [name, node] of nodes) {
      expect(node.volumes).toEqual([`${name}:/data`]);
      expect(Object.keys(compose.volumes)).toContain(name);
      expect(node.read_only).toBe(true);
      expect(Number.parseInt(node.stop_grace_period, 10)).toBeGreaterThan(
        defaultConfig().server.shutdown_timeout / 1000,
      );
    }
  });

  it('leads callers to servers alone, on Kubernetes too', () => {
    const nodes = [named('Deployment', 'furze-server'), named('StatefulSet', 'furze-worker')];
    expect(nodes.map(({ spec }) => spec.template.spec.containers[0].args.slice(-2))).toEqual([
      ['--role', 'server'],
      ['--role', 'worker'],
    ]);
    for (const { spec } of nodes) {
      expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
        defaultConfig().server.shutdown_timeout / 1000 + 5,
      );
      const env = spec.template.spec.containers[0].env.map(({ name }: { name: string }) => name);
      expect(env).toContain('FURZE_DATABASE_DATA_STORE');
    }
    const { labels } = nodes[0]!.spec.template.metadata;
    expect(named('Service', 'furze').spec.selector).toEqual(labels);
    for (const kind of ['PodDisruptionBudget', 'NetworkPolicy'])
      expect([kind, selectorOf(named(kind, 'furze-server').spec)]).toEqual([kind, labels]);
  });

  it('grows by servers that keep nothing, and has one Valkey without a disk for all', () => {
    const [server, valkey] = [named('Deployment', 'furze-server'), named('Deployment', 'furze-valkey')];
    for (const { spec } of [server, valkey])
      for (const volume of spec.template.spec.volumes)
        expect(['emptyDir', 'configMap']).toContain(Object.keys(volume).find((key) => key !== 'name'));
    expect(server.spec.replicas).toBeUndefined();
    expect(named('HorizontalPodAutoscaler', 'furze-server').spec.scaleTargetRef.name).toBe('furze-server');
    const [port] = named('Service', 'furze-valkey').spec.ports;
    const env = server.spec.template.spec.containers[0].env;
    expect(env.find(({ name }: { name: string }) => name === 'FURZE_DATABASE_CACHE_STORE').value).toBe(
      `redis://furze-valkey:${port.port}/0`,
    );
    expect(compose.services.valkey.command).toEqual(valkey.spec.template.spec.containers[0].args);
  });

  it('has values that its schema describes, key by key', () => {
    const schema = JSON.parse(read('helm/furze/values.schema.json'));
    const values = parse(read('helm/furze/values.yaml'));
    for (const [section, given] of Object.entries<Record<string, unknown>>(values)) {
      const described = schema.properties[section];
      expect([section, described !== undefined]).toEqual([section, true]);
      if (described.type === 'object' && described.properties !== undefined)
        expect([section, Object.keys(given)]).toEqual([section, Object.keys(described.properties)]);
    }
  });
});

describe('the proxies', () => {
  it.each(['nginx.conf', 'Caddyfile', 'haproxy.cfg'])('%s leads to the port of furze', (file) => {
    expect(read(join('proxy', file))).toContain(`127.0.0.1:${PORT}`);
  });
});

describe('the Grafana dashboard', () => {
  const dashboard = JSON.parse(read('grafana/furze.json'));

  it('has panels that do not overlap, each with a question to its own data source', () => {
    const taken = new Set<string>();
    for (const { title, gridPos, targets, datasource } of dashboard.panels) {
      expect([title, targets.length > 0]).toEqual([title, true]);
      expect(datasource.uid).toMatch(/^\$\{source\}$/);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x},${y}`), x < 24]).toEqual([title, false, true]);
          taken.add(`${x},${y}`);
        }
    }
  });

  it('is found by the provisioning of the compose file', () => {
    const { services } = parse(read('compose/compose.yaml'));
    const { providers } = parse(read('grafana/provisioning/dashboards/furze.yaml'));
    const mounted = services.grafana.volumes.find((volume: string) => volume.includes('furze.json'));
    expect(dirname(mounted.split(':')[1])).toBe(providers[0].options.path);
  });
});
