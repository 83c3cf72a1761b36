/** `reveille requests ID --body | --raw | --as-test`: writes the body of a request, without known secrets or as it came, or a test of it. */

import { printable } from '../../observe/printable.ts'
import { CommandFailure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { type Admin, openAdmin } from './admin-client.ts'
import { wholeIdOf } from './find.ts'

interface BodyOptions extends CommandOptions {
  readonly raw?: boolean
}

/** A terminal is shown printable text only: the body is a stranger's, and could steer it. */
export async function showBody(name: string, options: BodyOptions, io: Io): Promise<number> {
  const { raw = false, json = false } = options
  if (raw && !json && io.columns !== undefined)
    throw new CommandFailure(
      2,
      '--raw writes the bytes as they came: send them to a file, as in … --raw > body.json.',
    )
  const admin = await openAdmin(options, io)
  const id = await wholeIdOf(admin, 'requests', name)
  const bytes = await bodyOf(admin, id, raw)
  const text = textOf(bytes)
  if (json) {
    const content = text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text }
    io.out(`${JSON.stringify({ id, bytes: bytes.length, ...content }, null, 2)}\n`)
  } else if (io.columns === undefined) {
    writeBytes(bytes, io)
  } else {
    const lines = (text ?? Buffer.from(bytes).toString('latin1')).split(/\r?\n/)
    io.out(`${lines.map(printable).join('\n')}\n`)
  }
  return 0
}

/** Prints an entry of `tests:`, which a mapping file can take. */
export async function showTest(
  name: string,
  { json = false, ...options }: CommandOptions,
  io: Io,
): Promise<number> {
  const admin = await openAdmin(options, io)
  const id = await wholeIdOf(admin, 'requests', name)
  const yaml = Buffer.from(await admin.bytes(`/api/requests/${id}/as-test`)).toString('utf8')
  io.out(
    json ? `${JSON.stringify({ id, yaml }, null, 2)}\n` : `${yaml.split('\n').map(printable).join('\n')}`,
  )
  return 0
}

export function bodyOf(admin: Admin, id: string, raw = false): Promise<Uint8Array> {
  return admin.bytes(`/api/requests/${id}/body`, raw ? { raw: 'true' } : {})
}

function writeBytes(bytes: Uint8Array, io: Io): void {
  if (io.outBytes) io.outBytes(bytes)
  else io.out(Buffer.from(bytes).toString('utf8'))
}

/** Undefined where the bytes are no text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
