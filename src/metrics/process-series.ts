import { readdirSync } from 'node:fs'
import { Counter, Gauge, type Registry } from './prom-client.ts'

/** Figures of the whole process, which any of its threads can tell, under their common names. */
export function addProcessSeries(registry: Registry): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number | null): void => {
    const collect = function (this: Gauge): void {
      const value = read()
      if (value === null) this.remove()
      else this.set(value)
    }
    void new Gauge({ name, help, registers, collect })
  }
  const cpuSeconds = (name: string, help: string, of: readonly ('user' | 'system')[]): void => {
    const collect = function (this: Counter): void {
      const used = process.cpuUsage()
      this.reset()
      this.inc(of.reduce((sum, kind) => sum + used[kind], 0) / 1e6)
    }
    void new Counter({ name, help, registers, collect })
  }
  cpuSeconds('process_cpu_user_seconds_total', 'Processor time outside the kernel.', ['user'])
  cpuSeconds('process_cpu_system_seconds_total', 'Processor time in the kernel.', ['system'])
  cpuSeconds('process_cpu_seconds_total', 'Processor time of all threads.', ['user', 'system'])
  const startedAtS = Date.now() / 1000 - process.uptime()
  gauge('process_start_time_seconds', 'Start of the process since the Unix epoch.', () => startedAtS)
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  gauge('process_open_fds', 'Open file descriptors, sockets among them.', openFiles)
}

/** Null where the system does not tell. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}
