/** A webhook, and what its deliveries need, where a test is about something else. */
import type { DeliveryStorage, Secrets, Webhook } from '../../src/resources/webhooks/ports.ts';

export const WEBHOOK: Webhook = {
  id: 1,
  url: 'https://receiver.example/',
  resources: '[]',
  active: true,
  created: '2026-01-01T00:00:00.000Z',
  failing_since: null,
  origin: 0,
  key: '',
};

/** The same secret for each webhook. */
export const ONE_SECRET: Secrets = {
  id: async () => '',
  secretOf: () => `whsec_${'A'.repeat(43)}=`,
};

/** Keeps no position. */
export const NO_STORAGE: DeliveryStorage = {
  load: () => null,
  save: async () => {},
  forget: async () => {},
  ids: () => [],
  nameOf: String,
  latest: async () => null,
};
