/** Defines the error of packing. */

/** Thrown for a workspace that cannot be published as it is. The message says what is wrong, and where. */
export class PackFailed extends Error {
  readonly code = 'PACK_FAILED'
}

/** Rejects with what was attempted and the output of the tool that failed. */
export async function explainFailure<Value>(failure: string, attempt: Promise<Value>): Promise<Value> {
  try {
    return await attempt
  } catch (cause) {
    const { stdout, stderr, message } = cause as Error & { stdout?: string; stderr?: string }
    const output = [stdout, stderr].map((text) => text?.trim()).filter(Boolean)
    throw new PackFailed(`${failure}:\n${output.join('\n') || message}`, { cause })
  }
}
