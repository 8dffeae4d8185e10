import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from './report.ts';

/** Made by Prometheus itself. */
const NOT_OURS = ['up'];

/** Rules, their tests, and that every metric which rules and dashboard name is one that a running furze tells. */
export async function checkMonitoring(report: Report, root: string, url: string): Promise<void> {
  const folder = join(root, 'deploy/prometheus');
  report.byProgram('alert rules', 'promtool', ['check', 'rules', join(folder, 'alerts.yml')]);
  report.byProgram('tests of the alert rules', 'promtool', [
    'test',
    'rules',
    join(folder, 'alerts.test.yml'),
  ]);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  report.byProgram('metrics', 'promtool', ['check', 'metrics'], metrics);

  const told = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  // Told where the data is in PostgreSQL alone.
  const ofNodes = readFileSync(join(root, 'src/http/metrics/node-metrics.ts'), 'utf8').matchAll(
    /'(furze_[a-z_]+)'/g,
  );
  for (const [, name] of ofNodes) told.add(name);
  const base = (name: string) => (told.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));
  for (const file of ['deploy/prometheus/alerts.yml', 'deploy/grafana/furze.json']) {
    const named = readFileSync(join(root, file), 'utf8').match(/\b(furze|process)_[a-z_]+\b/g) ?? [];
    const unknown = [...new Set(named)].filter((name) => !told.has(base(name)) && !NOT_OURS.includes(name));
    report.check(`${file}: every metric is told by furze`, unknown.length === 0, unknown.join(', '));
  }
}
