import { number, secret, text } from './schema-types.ts';

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
