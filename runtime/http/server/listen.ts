/** Owns the moment an app begins to accept, and why it may not. */

import type { FastifyInstance } from 'fastify'

export type ListenErrorCode = 'PORT_IN_USE' | 'ADDRESS_UNAVAILABLE'

/** Why a gateway cannot listen, in one line. */
export class ListenError extends Error {
  readonly code: ListenErrorCode

  constructor(code: ListenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ListenError'
    this.code = code
  }
}

/** Resolves with the address: `http://127.0.0.1:8787`. @throws ListenError */
export async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      const message = `Port ${port} on ${host} is in use: another gateway may be running. Set gateway.port to a free one, or start with --port.`
      throw new ListenError('PORT_IN_USE', message, { cause: error })
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
      const message = `The gateway cannot listen on ${host}:${port} (${code}). Set gateway.host and gateway.port.`
      throw new ListenError('ADDRESS_UNAVAILABLE', message, { cause: error })
    }
    throw error
  }
}
