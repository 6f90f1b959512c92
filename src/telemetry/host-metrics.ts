/** The metrics about other hosts: those that follow this one, and the one that it follows. */
import type { Registry } from 'prom-client';
import { addGauge } from './gauge.ts';

/** How far a host that follows another one is. */
export interface FollowingFigures {
  /** Whether change sets arrive. */
  readonly connected: boolean;
  /** Change sets that the primary had when it was last asked, and that this host lacks. */
  readonly behind: number;
  /** Milliseconds since this host was last known to have all that the primary had. */
  readonly behindMs: number;
}

export interface HostSources {
  /** Hosts that follow this one. */
  readonly followers: () => number;
  /** Null if this host follows no other. */
  readonly following: () => FollowingFigures | null;
}

/** Adds the metrics, which are read when Prometheus requests them. */
export function measureHosts(registry: Registry, { followers, following }: HostSources): void {
  const gauge = (name: string, help: string, read: () => number | null) =>
    addGauge(registry, name, help, read);
  const figure = (read: (figures: FollowingFigures) => number) => () => {
    const figures = following();
    return figures && read(figures);
  };
  gauge('catalog_followers', 'Hosts that follow this one.', followers);
  gauge(
    'catalog_following_connected',
    '1 while change sets of the primary arrive.',
    figure(({ connected }) => Number(connected)),
  );
  gauge(
    'catalog_following_behind_change_sets',
    'Change sets that the primary had and this host lacked when the primary was last asked.',
    figure(({ behind }) => behind),
  );
  gauge(
    'catalog_following_behind_seconds',
    'Time since this host was last known to have every change set of its primary.',
    figure(({ behindMs }) => behindMs / 1000),
  );
}
