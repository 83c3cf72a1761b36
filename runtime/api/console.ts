/** Serves the files of the operators' console, which hold nothing of the gateway: the page asks the API, which wants a sign-in. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { packageFile } from '../package-folder.ts'
import { refuse } from './errors.ts'
import { nonceOf } from './headers.ts'
import type { AdminOptions } from './options.ts'
import { refuseOtherMethods } from './register.ts'

interface ConsoleOptions extends Pick<AdminOptions, 'current' | 'mintId'> {
  /** The folder of the files. Default: that of the published package, or what was built in a clone. */
  readonly consoleFolder?: string
}

/** A file of another kind is not served. */
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

/** Where the nonce of an answer belongs in the page. */
const placeholder = /__NONCE__/g

export function registerConsole(app: FastifyInstance, options: ConsoleOptions): void {
  const folder = () => options.consoleFolder ?? findFolder()
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (_request, reply) => {
        reply.header('x-request-id', options.mintId()).header('cache-control', 'no-store')
        if (options.current().snapshot.settings.gateway.tokens.length === 0) refuse('NOT_FOUND')
      })

      // The page finds out by its address what to show.
      for (const url of ['/', '/*']) {
        scope.get(url, async ({ params }, reply) => {
          const { '*': rest = '' } = params as { '*'?: string }
          const page = rest.startsWith('assets/') ? undefined : await read(folder(), 'index.html')
          if (page === undefined) return refuseMissing(rest)
          const html = page.toString().replace(placeholder, nonceOf(reply))
          return reply.type('text/html; charset=utf-8').send(html)
        })
        refuseOtherMethods(scope, url, ['GET', 'HEAD'])
      }

      // The name of a file changes with its content.
      scope.get('/assets/:name', async ({ params, headers }, reply) => {
        const { name } = params as { name: string }
        const type = /^\w[\w.-]*$/.test(name) ? types[path.extname(name)] : undefined
        if (type === undefined) return refuse('NOT_FOUND')
        const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(
          String(headers['accept-encoding'] ?? ''),
        )
        const zipped = takesGzip ? await read(folder(), 'assets', `${name}.gz`) : undefined
        const content = zipped ?? (await read(folder(), 'assets', name))
        if (content === undefined) return refuse('NOT_FOUND')
        if (zipped !== undefined) reply.header('content-encoding', 'gzip')
        return reply
          .header('vary', 'accept-encoding')
          .header('cache-control', 'public, max-age=31536000, immutable')
          .type(type)
          .send(content)
      })
      refuseOtherMethods(scope, '/assets/:name', ['GET', 'HEAD'])
    },
    { prefix: '/console' },
  )
}

function findFolder(): string {
  const published = packageFile('console')
  return existsSync(published) ? published : packageFile('..', 'build', 'console')
}

async function read(...names: readonly [string, ...string[]]): Promise<Buffer | undefined> {
  try {
    return await readFile(path.join(...names))
  } catch {
    return undefined
  }
}

function refuseMissing(rest: string): never {
  if (rest.startsWith('assets/')) refuse('NOT_FOUND')
  return refuse('NOT_FOUND', { sentence: 'The console is not built; `npm start` builds it.' })
}
