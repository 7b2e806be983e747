import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Shop

@Suite("The tables of the Shop app")
struct ShopStoreSchemaTests {
    @Test("SHOP-13 lists of an earlier version are kept with their order")
    func lines() throws {
        let directory = try DataDirectory.temporary()
        let before = try LarderDatabase.withCacheTables(
            in: directory,
            migrations: Array(ShopStore.migrations.prefix(2)),
            logger: .quiet
        )
        try before.write { db in
            for (position, id) in [7, 5].enumerated() {
                try db.execute(
                    sql: """
                        INSERT INTO shop_list_item
                            (profile, product_id, quantity, position, title, description, price, images, made_at)
                        VALUES ('anna', ?, 3, ?, 'A', 'B', '1.5', '["https://a.test/b.png"]', 'then')
                        """,
                    arguments: [id, position]
                )
            }
            try db.execute(sql: "INSERT INTO shop_profile VALUES ('anna', 4, 'mug', '{}')")
        }
        try before.close()
        let store = ShopStore(
            try LarderDatabase.withCacheTables(in: directory, migrations: ShopStore.migrations, logger: .quiet)
        )
        let list = try store.list("anna")
        #expect(list.revision == 4 && list.items.map(\.id) == [7, 5].map { ListItemID(productID: $0) })
        #expect(list.items.allSatisfy { $0.quantity == 3 && $0.difference == nil && $0.product.madeAt == "then" })
        #expect(try store.lines(of: 5, "anna").first?.product.images == ["https://a.test/b.png"])
        let searches = try store.searches(of: "anna")
        #expect(searches.last == SearchQuery(text: "mug") && searches.revision == 0)
    }
}
