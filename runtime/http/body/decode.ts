/** Turns body bytes into a payload, and says how many of them an endpoint takes. */

import { decodePayload, type HookRequest, isLongToRead, RefusalError, type Snapshot } from '@reveille/engine'
import { RequestError } from '../errors.ts'

export function maxBytesFor({ policyOf, settings }: Snapshot, endpoint: string): number {
  return policyOf(endpoint)?.maxBodyBytes ?? settings.hooks.maxBodyBytes
}

export type Decoded = Pick<HookRequest, 'payload' | 'unwrapped' | 'isForm' | 'isUndecoded'>

/** As the endpoint takes it; a body that takes long to read is left to an evaluator thread. @throws RequestError */
export function decodeFor(endpoint: string, body: Buffer, contentType: string | undefined): Decoded {
  return isLongToRead(body)
    ? { payload: undefined, isUndecoded: true }
    : decodeWhole(endpoint, body, contentType)
}

/** Decodes the body when its payload is first needed, and once. */
export function decoderFor(endpoint: string, body: Buffer, contentType: string | undefined): () => Decoded {
  let decoded: Decoded | undefined
  return () => {
    decoded ??= decodeFor(endpoint, body, contentType)
    return decoded
  }
}

/** For readers that can do without: undefined where the body cannot be read. */
export function decodedIfReadable(decode: () => Decoded): Decoded | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

/** The same for a body of any size. @throws RequestError */
export function decodeWhole(endpoint: string, body: Buffer, contentType: string | undefined): Decoded {
  try {
    return decodePayload(endpoint, body, contentType)
  } catch (error) {
    throw error instanceof RefusalError ? new RequestError(error.code, { sentence: error.message }) : error
  }
}
