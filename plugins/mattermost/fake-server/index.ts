/** A fake of a Mattermost server, with users, channels, posts and a memory of pending posts. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
  type VendorMessage,
  withRetryAfter,
} from '@reveille/kit/fake-server'
import { readMarkup } from './markup.ts'

export interface MattermostPost extends VendorMessage {
  /** The post as it was received. */
  readonly post: Readonly<Record<string, unknown>>
  /** The addresses that the server would fetch for previews and images. */
  readonly fetched: readonly string[]
}

/** Returns what a person reads of a part. */
export function visibleText(part: Part): string {
  return readMarkup(part.text).text
}

export interface OpenVendorOptions {
  /** The clock in milliseconds by which pending posts are forgotten. Default: the machine's clock. */
  readonly now?: () => number
  /** Maximum length of a post, in code points. Default: 16,383, as on a server. */
  readonly maxPostLength?: number
}

/** Milliseconds that a server remembers a pending post. */
const pendingMs = 30_000

const id = (letter: string) => letter.repeat(26)
const token = 'mattermost-fake-token'
const own = { id: id('b'), username: 'reveille', is_bot: true }
const person = { id: id('p'), username: 'ada', is_bot: false }
const town = id('t')
const archived = id('a')
const rootId = id('r')

export async function openVendor(options: OpenVendorOptions = {}) {
  const { now = Date.now, maxPostLength = 16_383 } = options
  const users = [own, person]
  /** The channels by id. The name of a direct channel holds the ids of its users. */
  const channels = new Map<string, { id: string; name: string; type: string; delete_at: number }>([
    [town, { id: town, name: 'town-square', type: 'O', delete_at: 0 }],
    [archived, { id: archived, name: 'old-square', type: 'O', delete_at: 1 }],
  ])
  const posts = new Map<string, Record<string, unknown>>([[rootId, { id: rootId, channel_id: town }]])
  const pending = new Map<string, { at: number; post: Record<string, unknown> }>()
  const messages: MattermostPost[] = []
  /** The mentioned usernames, `all`, `channel` and `here`. */
  const pings: string[] = []
  let count = 0

  function nextId(): string {
    count += 1
    return count.toString(36).padStart(26, '0')
  }

  function createDirect(json: unknown): FakeServerAnswer {
    if (!Array.isArray(json) || json.length !== 2) return invalid('user_ids')
    if (!json.includes(own.id)) return forbidden
    if (json.some((each) => !users.some((user) => user.id === each))) {
      return refuse(
        400,
        'api.channel.create_direct_channel.invalid_user.app_error',
        'Invalid user ID for direct channel creation.',
      )
    }
    const name = json.toSorted().join('__')
    const found = [...channels.values()].find((channel) => channel.name === name)
    const channel = found ?? { id: nextId(), name, type: 'D', delete_at: 0 }
    channels.set(channel.id, channel)
    return { status: 201, body: { ...channel, display_name: '' } }
  }

  function createPost(json: unknown): FakeServerAnswer {
    const sent = (json ?? {}) as Record<string, unknown>
    const { channel_id: channelId, message, root_id: root = '', pending_post_id: pendingId = '' } = sent
    if ([channelId, message, root, pendingId].some((each) => typeof each !== 'string')) return invalid('post')
    const channel = channels.get(String(channelId))
    // Mattermost treats an unknown id as a channel where the bot may not post.
    if (channel === undefined) return forbidden
    const known = pending.get(String(pendingId))
    if (known !== undefined && now() - known.at < pendingMs) return { status: 201, body: known.post }
    if (channel.delete_at > 0) {
      return refuse(
        400,
        'api.post.create_post.can_not_post_to_deleted.error',
        'Can not post to deleted channel.',
      )
    }
    if (root !== '' && !posts.has(String(root))) {
      return refuse(400, 'api.post.create_post.root_id.app_error', 'Invalid RootId parameter.')
    }
    if (root !== '' && posts.get(String(root))?.['channel_id'] !== channelId) {
      return refuse(
        500,
        'api.post.create_post.channel_root_id.app_error',
        'Invalid ChannelId for RootId parameter.',
      )
    }
    const text = String(message)
    if (text.trim() === '') return invalid('message')
    if ([...text].length > maxPostLength) {
      return refuse(
        400,
        'model.post.is_valid.message_length.app_error',
        'Post Message property is longer than the maximum permitted length.',
      )
    }
    const at = now()
    const times = { create_at: at, update_at: at, delete_at: 0, edit_at: 0 }
    const place = { user_id: own.id, channel_id: channelId, root_id: root, original_id: '' }
    const content = { message: text, type: '', props: sent['props'] ?? {}, pending_post_id: pendingId }
    const post = { id: nextId(), ...times, ...place, ...content }
    posts.set(post.id, post)
    if (pendingId !== '') pending.set(String(pendingId), { at, post })
    const { text: read, words, bareAddresses, images } = readMarkup(text)
    const names = [...users.map((user) => user.username), 'all', 'channel', 'here']
    pings.push(...names.filter((name) => words.has(`@${name}`)))
    const fetched = [...bareAddresses.slice(0, 1), ...images]
    messages.push({ to: String(channelId), text: read, post: sent, fetched })
    return { status: 201, body: post }
  }

  function answer({ method, path, headers, json }: FakeServerRequest): FakeServerAnswer {
    const route = `${method} ${path}`
    if (route === 'GET /api/v4/system/ping') return { body: { status: 'OK' } }
    if (!path.startsWith('/api/v4/')) return { status: 404, body: '<html>404 page not found</html>' }
    // The scheme's name ignores case; the vendor's own client writes it in capitals.
    if (headers['authorization']?.replace(/^bearer /i, '') !== token) return expired
    if (route === 'POST /api/v4/posts') return createPost(json)
    if (route === 'POST /api/v4/channels/direct') return createDirect(json)
    const asked = /^GET \/api\/v4\/users\/(username\/)?([^/]+)$/.exec(route)
    if (asked === null) return refuse(404, 'api.context.404.app_error', 'Sorry, we could not find the page.')
    const [, byName, value] = asked
    const found = users.find(
      (user) => (byName ? user.username : user.id) === (value === 'me' ? own.id : value),
    )
    return found
      ? { body: { ...found, email: '', roles: 'system_user' } }
      : refuse(404, 'app.user.missing_account.const', 'Unable to find the user.')
  }

  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => path === '/api/v4/posts' })
  return {
    ...fakeServer,
    messages,
    pings,
    config: { baseUrl: fakeServer.url, token },
    secrets: [token],
    to: `channel:${town}`,
    unknownTo: '@nobody.here',
    threadTo: `${town}:thread:${rootId}`,
    /** The id of a channel that the bot is in, and of one that is archived. */
    channelId: town,
    archivedId: archived,
    userId: person.id,
    username: person.username,
    refusals: {
      badCredential: expired,
      forbidden,
      rateLimited(seconds: number) {
        const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds) }
        return withRetryAfter({ status: 429, headers, body: 'limit exceeded' }, seconds)
      },
      serverError: refuse(
        500,
        'api.post.deduplicate_create_post.pending',
        'Rejected post since another client is making the same request.',
      ),
    },
  }
}

const forbidden = refuse(
  403,
  'api.context.permissions.app_error',
  'You do not have the appropriate permissions.',
)

const expired = refuse(
  401,
  'api.context.session_expired.app_error',
  'Invalid or expired session, please login again.',
)

function invalid(parameter: string): FakeServerAnswer {
  return refuse(
    400,
    'api.context.invalid_body_param.app_error',
    `Invalid or missing ${parameter} in request body.`,
  )
}

function refuse(status: number, errorId: string, message: string): FakeServerAnswer {
  const rest = { detailed_error: '', request_id: 'fakerequest00000000000000', status_code: status }
  return { status, body: { id: errorId, message, ...rest } }
}
