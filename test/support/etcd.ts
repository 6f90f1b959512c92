/** Three nodes of etcd on loopback, to be killed and paused. Without etcd installed there are none. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

export const HAS_ETCD = spawnSync('etcd', ['--version']).status === 0;

interface Node {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  process: ChildProcess;
}

export interface Etcd {
  /** `http://127.0.0.1:port` of each node. */
  readonly endpoints: readonly string[];
  /** `etcd://127.0.0.1:port,…/prefix`. */
  readonly url: (prefix: string) => string;
  readonly signal: (nth: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void;
  /** Whether a node stands still: SIGSTOP is carried out some time after it was sent. */
  readonly isStopped: (nth: number) => boolean;
  /** Starts a node that was killed. */
  readonly start: (nth: number) => void;
  readonly close: () => Promise<void>;
}

/**
 * Ports below those that systems give out by themselves: while a node or a host is down, nothing
 * else of the machine takes its port.
 */
const PORTS = { from: 10_000, below: 32_000 } as const;

/** @returns a server that holds a port; null if another process has it. */
function hold(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, '127.0.0.1', () => resolve(server));
    server.on('error', () => resolve(null));
  });
}

/** @returns ports that are free now. All are held until all are known, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  while (held.length < count) {
    const port = randomInt(PORTS.from, PORTS.below);
    const server = await hold(port);
    if (server !== null) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}

/** Paths of files in PEM. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Starts the nodes, and waits until they answer.
 *
 * @param tls of the nodes, which then require a certificate of their clients.
 */
export async function startEtcd(count = 3, tls?: TlsFiles): Promise<Etcd> {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-etcd-'));
  const ports = await freePorts(2 * count);
  const address = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const clientAddress = (port: number | undefined) =>
    tls === undefined ? address(port) : `https://127.0.0.1:${port}`;
  const members = Array.from({ length: count }, (_, nth) => ({
    name: `n${nth}`,
    client: clientAddress(ports[2 * nth]),
    peer: address(ports[2 * nth + 1]),
  }));
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const run = ({ name, client, peer }: Omit<Node, 'process'>): ChildProcess =>
    spawn(
      'etcd',
      [
        ['--name', name, '--data-dir', join(directory, name), '--snapshot-count', '2000'],
        ['--listen-client-urls', client, '--advertise-client-urls', client],
        ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
        tls === undefined
          ? []
          : ['--cert-file', tls.cert, '--key-file', tls.key, '--trusted-ca-file', tls.ca],
        tls === undefined ? [] : ['--client-cert-auth'],
        ['--logger', 'zap', '--log-level', 'error', '--log-outputs', 'stderr'],
      ].flat(),
      { stdio: 'ignore' },
    );
  const nodes: Node[] = members.map((member) => ({ ...member, process: run(member) }));
  // A test file that ends early leaves no nodes behind.
  process.once('exit', () => {
    for (const { process: child } of nodes) child.kill('SIGKILL');
  });
  const endpoints = nodes.map(({ client }) => client);
  const certificates = tls && {
    ca: readFileSync(tls.ca, 'utf8'),
    cert: readFileSync(tls.cert, 'utf8'),
    key: readFileSync(tls.key, 'utf8'),
  };
  await until('etcd answers', async () => {
    const answer = await fetch(`${endpoints[0]}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify({ key: 'AA==' }),
      ...(certificates !== undefined && { tls: certificates }),
    }).catch(() => null);
    return answer?.ok === true;
  });
  const nodeAt = (nth: number) => nodes[nth] as Node;
  return {
    endpoints,
    url: (prefix) => `etcd://${endpoints.map((each) => each.split('//')[1]).join(',')}/${prefix}`,
    signal: (nth, signal) => void nodeAt(nth).process.kill(signal),
    isStopped: (nth) =>
      /^State:\s+T/m.test(readFileSync(`/proc/${nodeAt(nth).process.pid}/status`, 'utf8')),
    start(nth) {
      const node = nodeAt(nth);
      node.process = run(node);
    },
    async close() {
      await Promise.all(
        nodes.map(async ({ process: child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill('SIGKILL');
          await ended;
        }),
      );
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a certificate for 127.0.0.1 that signs itself, for nodes and clients alike. It has no common
 * name: with users, etcd's gateway refuses clients whose certificate has one.
 */
export function makeCertificate(directory: string): TlsFiles {
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-subj', '/O=catalog', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-nodes', '-days', '2', '-keyout', key, '-out', cert];
  const { status, stderr } = spawnSync('openssl', [...args, ...subject, ...files]);
  if (status !== 0) throw new Error(String(stderr));
  return { ca: cert, cert, key };
}
