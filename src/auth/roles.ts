/** The roles of callers (spec 6.5). */

export const ROLES = ['viewer', 'editor', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** @param value of any type, such as a claim of a token. */
export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value);
}

/** Each role may do everything that the roles before it may do. */
export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
