/** Reads the processor time of this thread, which does not depend on other work of the machine. */

export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
