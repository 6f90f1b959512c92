/** A gauge whose value is kept elsewhere. */
import { Gauge, type Registry } from 'prom-client';

/**
 * Adds a gauge without labels to a registry.
 *
 * @param read is called when Prometheus requests the metrics; while it returns null, the gauge has
 *   no value.
 */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | null,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read();
      if (value === null) gauge.remove();
      else gauge.set(value);
    },
  });
}
