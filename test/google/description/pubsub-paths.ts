/**
 * Lists the paths of Pub/Sub's operations, which the typings lack. They are those of
 * https://cloud.google.com/pubsub/docs/reference/rest, with its names of parameters. All parameters are whole
 * resource names.
 */

const topic = '{topic=projects/*/topics/*}'
const subscription = '{subscription=projects/*/subscriptions/*}'
const snapshot = '{snapshot=projects/*/snapshots/*}'
const schema = '{name=projects/*/schemas/*}'

/** Maps an id without the service to method and path. */
export const pubsubPaths: Readonly<Record<string, string>> = {
  'projects.topics.create': 'PUT /v1/{name=projects/*/topics/*}',
  'projects.topics.delete': `DELETE /v1/${topic}`,
  'projects.topics.get': `GET /v1/${topic}`,
  'projects.topics.list': 'GET /v1/{project=projects/*}/topics',
  'projects.topics.patch': 'PATCH /v1/{name=projects/*/topics/*}',
  'projects.topics.publish': `POST /v1/${topic}:publish`,
  'projects.topics.snapshots.list': `GET /v1/${topic}/snapshots`,
  'projects.topics.subscriptions.list': `GET /v1/${topic}/subscriptions`,
  ...policies('projects.topics', 'topics'),

  'projects.subscriptions.acknowledge': `POST /v1/${subscription}:acknowledge`,
  'projects.subscriptions.create': 'PUT /v1/{name=projects/*/subscriptions/*}',
  'projects.subscriptions.delete': `DELETE /v1/${subscription}`,
  'projects.subscriptions.detach': `POST /v1/${subscription}:detach`,
  'projects.subscriptions.get': `GET /v1/${subscription}`,
  'projects.subscriptions.list': 'GET /v1/{project=projects/*}/subscriptions',
  'projects.subscriptions.modifyAckDeadline': `POST /v1/${subscription}:modifyAckDeadline`,
  'projects.subscriptions.modifyPushConfig': `POST /v1/${subscription}:modifyPushConfig`,
  'projects.subscriptions.patch': 'PATCH /v1/{name=projects/*/subscriptions/*}',
  'projects.subscriptions.pull': `POST /v1/${subscription}:pull`,
  'projects.subscriptions.seek': `POST /v1/${subscription}:seek`,
  ...policies('projects.subscriptions', 'subscriptions'),

  'projects.snapshots.create': 'PUT /v1/{name=projects/*/snapshots/*}',
  'projects.snapshots.delete': `DELETE /v1/${snapshot}`,
  'projects.snapshots.get': `GET /v1/${snapshot}`,
  'projects.snapshots.list': 'GET /v1/{project=projects/*}/snapshots',
  'projects.snapshots.patch': 'PATCH /v1/{name=projects/*/snapshots/*}',
  ...policies('projects.snapshots', 'snapshots'),

  'projects.schemas.commit': `POST /v1/${schema}:commit`,
  'projects.schemas.create': 'POST /v1/{parent=projects/*}/schemas',
  'projects.schemas.delete': `DELETE /v1/${schema}`,
  'projects.schemas.deleteRevision': `DELETE /v1/${schema}:deleteRevision`,
  'projects.schemas.get': `GET /v1/${schema}`,
  'projects.schemas.list': 'GET /v1/{parent=projects/*}/schemas',
  'projects.schemas.listRevisions': `GET /v1/${schema}:listRevisions`,
  'projects.schemas.rollback': `POST /v1/${schema}:rollback`,
  'projects.schemas.validate': 'POST /v1/{parent=projects/*}/schemas:validate',
  'projects.schemas.validateMessage': 'POST /v1/{parent=projects/*}/schemas:validateMessage',
  ...policies('projects.schemas', 'schemas'),
}

function policies(id: string, collection: string): Readonly<Record<string, string>> {
  const resource = `{resource=projects/*/${collection}/*}`
  return {
    [`${id}.getIamPolicy`]: `GET /v1/${resource}:getIamPolicy`,
    [`${id}.setIamPolicy`]: `POST /v1/${resource}:setIamPolicy`,
    [`${id}.testIamPermissions`]: `POST /v1/${resource}:testIamPermissions`,
  }
}

/** Any one of these scopes is enough. https://developers.google.com/identity/protocols/oauth2/scopes#pubsub */
export const pubsubScopes: readonly string[] = [
  'https://www.googleapis.com/auth/cloud-platform',
  'https://www.googleapis.com/auth/pubsub',
]
