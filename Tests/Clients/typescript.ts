// Reads every value into the types of the client that was generated, and requests a list with it.
import * as models from './typescript-fetch/models'
import { Configuration } from './typescript-fetch/runtime'
import { ShipsApi } from './typescript-fetch/apis/ShipsApi'

declare const require: (name: string) => any
declare const process: { argv: string[]; exit(code: number): never }

interface Sample { place: string; schema: string; value: unknown; later: unknown }

/** A value without what the same value may be written with or without: nulls, and the form of a time. */
function comparable(value: any): any {
  if (value instanceof Date) return value.getTime()
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).getTime()
  if (Array.isArray(value)) return value.map(comparable)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, comparable(member)]))
}

async function main() {
  const [base, token, file] = process.argv.slice(2)
  const samples: Sample[] = JSON.parse(require('fs').readFileSync(file, 'utf8'))
  const functions: Record<string, (value: any) => any> = models as any
  for (const { place, schema, value, later } of samples) {
    const expected = JSON.stringify(comparable(value))
    for (const given of [value, later]) {
      const typed = functions[`${schema}FromJSON`](given)
      const written = JSON.stringify(comparable(JSON.parse(JSON.stringify(functions[`${schema}ToJSON`](typed)))))
      if (written !== expected) throw new Error(`${place}: ${schema} differs\n${written}\n${expected}`)
    }
  }
  const ships = new ShipsApi(new Configuration({ basePath: base, accessToken: token }))
  const list: models.ShipList = await ships.listShips({ limit: 2 })
  if (list.data.items.length !== 2 || list.meta.page.count !== 2 || !list.links.next) throw new Error('no list')
  const cursor = new URLSearchParams(list.links.next.split('?')[1]).get('cursor') ?? ''
  const second: models.ShipList = await ships.listShips({ limit: 2, cursor })
  const ids = [...list.data.items, ...second.data.items].map(ship => ship.id)
  if (new Set(ids).size !== 4) throw new Error(`no second page: ${ids}`)
  console.log(`typescript-fetch: ${samples.length} values, and a list of ${list.meta.page.total} ships`)
}

main().catch(error => { console.error(error); process.exit(1) })
