/** Rights of a key: with each its holder may read, and with `own` do everything. */
export const ROLES = ['read', 'write', 'operate', 'own'] as const;
export type Role = (typeof ROLES)[number];

/** True when who has a role may do what takes another. */
export function mayDo(role: Role, needed: Role): boolean {
  return role === needed || role === 'own' || needed === 'read';
}
