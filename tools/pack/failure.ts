/** Owns the one error of packing. */

/** A workspace cannot be published as it is. The message says what is amiss, and where. */
export class PackFailed extends Error {
  readonly code = 'PACK_FAILED'
}

/** Lets a tool's own words follow what was attempted with it. */
export async function told<Value>(failure: string, attempt: Promise<Value>): Promise<Value> {
  try {
    return await attempt
  } catch (cause) {
    const { stdout, stderr, message } = cause as Error & { stdout?: string; stderr?: string }
    const words = [stdout, stderr].map((text) => text?.trim()).filter(Boolean)
    throw new PackFailed(`${failure}:\n${words.join('\n') || message}`, { cause })
  }
}
