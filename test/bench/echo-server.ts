/**
 * Runs the reference: a Fastify server that parses the body, answers about as many bytes as the gateway, and does
 * nothing else.
 */

import Fastify from 'fastify'

const app = Fastify({ logger: false, bodyLimit: 4 * 1024 * 1024 })
app.get('/readyz', async () => ({ ok: true }))
app.post('/echo', async () => ({ ok: true, mode: 'now', requestId: 'x'.repeat(36), eventId: 'x'.repeat(36) }))
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })
