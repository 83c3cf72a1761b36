/** Reads how long this thread has worked, which other work on the machine does not change. */

export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
