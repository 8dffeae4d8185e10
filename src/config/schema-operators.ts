import { duration, number, secret, text } from './schema-types.ts';

const IMAGE = '^(|https?://[^/{}\\s]+/.*|\\{Labels\\..+\\})$';

/** The keys of `[dashboard]`: what its pages show of an item. */
export const dashboardKeys = {
  image: text(
    '',
    'Address of the picture of an item, for the dashboard: a template such as "https://img.shop.example/{ItemId}.jpg" or "{Labels.image}", with the fields ItemId, Comment and those of labels that are objects. Empty for none.',
    IMAGE,
  ),
  price: text(
    '',
    'Price of an item as the dashboard shows it: a template such as "{Labels.price} EUR", with fields as in image. Empty for none.',
    '.*',
  ),
};

/** The keys of `[webhooks]`: where events are sent, and which. */
export const webhookKeys = {
  url: secret(
    'Address to which events are sent as JSON by POST: fit_published, and quality_fell. It is never shown, since it may hold a key. Empty for none.',
  ),
  key: secret('Key that is sent with them as "Authorization: Bearer"; empty for none.'),
  quality_fall: number(
    0.1,
    0,
    1,
    'Share by which the NDCG@10 of the lists must be lower than after the fit before, to have fallen.',
  ),
};

/** The keys of `[telemetry]`: what is sent to a collector of OpenTelemetry. */
export const telemetryKeys = {
  otlp_url: text(
    '',
    'Address of a collector that takes OTLP over HTTP, such as "http://127.0.0.1:4318": metrics and spans of requests go to it. Empty sends nothing and costs nothing. Keys belong into the variable OTEL_EXPORTER_OTLP_HEADERS.',
    '^(|https?://[^/@\\s]+(/[^@\\s]*)?)$',
  ),
  trace_share: number(
    0.01,
    0,
    1,
    'Share of requests that begin a trace. A request that comes with a traceparent belongs to that trace, if its caller keeps it.',
  ),
  metrics_period: duration('60s', 'Time between two sendings of the metrics.'),
};
