/** Three nodes of etcd on loopback, to be killed and paused. Without etcd installed there are none. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

/** Milliseconds for a call of a test to etcd: more than one takes on the busiest machine. */
export const CALL_MS = 60_000;

export const HAS_ETCD = spawnSync('etcd', ['--version']).status === 0;

/** A test that needs etcd (Debian: etcd-server), and is skipped without it. */
export const testWithEtcd = HAS_ETCD ? test : test.skip;

interface Node {
  readonly name: string;
  /** Where it keeps its data. */
  directory: string;
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
  /** Whether a node answers, for which it needs a majority. */
  readonly answers: (nth: number) => Promise<boolean>;
  /** Sends SIGKILL, and waits for the end. */
  readonly kill: (nth: number) => Promise<void>;
  /** Starts a node that was killed. @param directory of its data, if it has moved. */
  readonly start: (nth: number, directory?: string) => void;
  readonly close: () => Promise<void>;
}

/** Paths of files in PEM. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

interface Options {
  /** Of the nodes, which then require a certificate of their clients. */
  readonly tls?: TlsFiles;
  /** A directory for each node; directories that are removed in the end by default. */
  readonly directories?: readonly string[];
}

/** Starts the nodes, and waits until they answer. */
export async function startEtcd(count = 3, { tls, directories }: Options = {}): Promise<Etcd> {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-etcd-'));
  const ports = await freePorts(2 * count);
  const address = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const clientAddress = (port: number | undefined) =>
    tls === undefined ? address(port) : `https://127.0.0.1:${port}`;
  const members = Array.from({ length: count }, (_, nth) => ({
    name: `n${nth}`,
    directory: join(directories?.[nth] ?? directory, `n${nth}`),
    client: clientAddress(ports[2 * nth]),
    peer: address(ports[2 * nth + 1]),
  }));
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const run = ({ name, directory: data, client, peer }: Omit<Node, 'process'>): ChildProcess =>
    spawn(
      'etcd',
      [
        ['--name', name, '--data-dir', data, '--snapshot-count', '2000'],
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
  const answers = async (nth: number) => {
    const answer = await fetch(`${endpoints[nth]}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify({ key: 'AA==' }),
      ...(certificates !== undefined && { tls: certificates }),
    }).catch(() => null);
    return answer?.ok === true;
  };
  await until('etcd answers', () => answers(0));
  const nodeAt = (nth: number) => nodes[nth] as Node;
  return {
    endpoints,
    url: (prefix) => `etcd://${endpoints.map((each) => each.split('//')[1]).join(',')}/${prefix}`,
    signal: (nth, signal) => void nodeAt(nth).process.kill(signal),
    isStopped: (nth) =>
      /^State:\s+T/m.test(readFileSync(`/proc/${nodeAt(nth).process.pid}/status`, 'utf8')),
    answers,
    kill: (nth) => ended(nodeAt(nth)),
    start(nth, moved) {
      const node = nodeAt(nth);
      if (moved !== undefined) node.directory = join(moved, node.name);
      node.process = run(node);
    },
    async close() {
      await Promise.all(nodes.map(ended));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Kills a node, if it runs, and waits for its end. */
async function ended({ process: child }: Node): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
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
