import Foundation
import GRDB
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Shop

@Suite("Products as the API sends them")
struct ProductRecordTests {
    private func product(_ json: String) throws -> Product? {
        try JSONDecoder().decode([Tolerant<ProductRecord>].self, from: Data("[\(json)]".utf8)).first?.value?.product
    }

    @Test("SHOP-17 the least there can be, and everything there can be")
    func least() throws {
        let least = try #require(try product(#"{"id":7,"title":"A","price":1}"#))
        #expect(least.description == "" && least.category == nil && least.images == [] && least.madeAt == nil)
        let most = try #require(
            try product(
                """
                {"id":8,"title":"B","slug":"b","price":19.99,"description":"d","category":{"id":2,"name":"C","x":[]},
                "images":["https://a.example/1.png"],"creationAt":"2025-01-01","extra":{"a":1}}
                """
            )
        )
        #expect(
            most.price.text.english == "19.99$" && most.category == Product.Category(id: 2, name: "C")
                && most.madeAt == "2025-01-01"
        )
    }

    @Test("ONE-07 an id that JavaScript cannot read exactly is none, nor is a category that no filter takes")
    func ids() throws {
        for id in ["0", "-1", "9007199254740992", "1152921504606846976", "1e300"] {
            #expect(try product(#"{"id":\#(id),"title":"A","price":1}"#) == nil, "\(id)")
        }
        for (id, expected) in [(2_147_483_647, 2_147_483_647), (2_147_483_648, nil)] as [(Int, Int?)] {
            let json = #"{"id":9007199254740991,"title":"A","price":1,"category":{"id":\#(id),"name":"C"}}"#
            #expect(try product(json)?.category?.id == expected)
            let category = try? JSONDecoder().decode(CategoryRecord.self, from: Data(#"{"id":\#(id),"name":"C"}"#.utf8))
            #expect(category?.category.id == expected)
        }
    }

    @Test(
        "SHOP-17 fields of other types are as good as none, prices as texts are prices",
        arguments: [
            (#"{"id":1,"title":"A","price":"12.50"}"#, "12.50$"),
            (#"{"id":1,"title":"A","price":2,"images":"https://a.example/1.png","category":"x"}"#, "2$"),
            (#"{"id":1,"title":"A","price":0.1,"description":null,"category":null,"images":[null,1]}"#, "0.10$"),
            (#"{"id":1,"title":"A","price":1e3,"category":{"id":"2"}}"#, "1,000$"),
            (#"{"id":1,"title":"A\u0000B","price":0}"#, "0$"),
            (#"{"id":1,"title":"A","price":123456789012345678}"#, "123,456,789,012,345,678$"),
        ]
    )
    func tolerant(json: String, price: String) throws {
        let product = try #require(try product(json))
        #expect(
            product.price.text.english == price && product.category == nil && product.images == []
                && !product.title.contains("\0")
        )
    }

    @Test("ONE-11 titles, categories and descriptions are cleaned; a description keeps its line breaks")
    func cleanTexts() throws {
        let json = #"""
            {"id":1,"title":"\u202eLamp\u200b\n","price":1,"description":" One\r\n\r\ntwo\u0007 👩\u200d🚀 ",\#
            "category":{"id":2,"name":"\u2067Light\ts"}}
            """#
        let product = try #require(try product(json))
        #expect(product.title == "Lamp" && product.category?.name == "Light s")
        #expect(product.description == "One\n\ntwo 👩\u{200D}🚀")
    }

    @Test(
        "what cannot be shown is left out",
        arguments: [
            "{}", "null", "[]", "1", #"{"id":0,"title":"A","price":1}"#, #"{"id":"1","title":"A","price":1}"#,
            #"{"id":1,"title":"  ","price":1}"#,
            #"{"id":1,"price":1}"#, #"{"id":1,"title":"A"}"#, #"{"id":1,"title":"A","price":-1}"#,
            #"{"id":1,"title":"A","price":"x"}"#,
            #"{"id":1,"title":"A","price":null}"#, #"{"id":1,"title":"A","price":1e99}"#,
            #"{"id":1.5,"title":"A","price":1}"#,
        ]
    )
    func unusable(json: String) throws {
        #expect(try product(json) == nil)
    }

    @Test("SHOP-10 picture addresses are cleaned of what the upstream does to them")
    func images() {
        let clean = ImageAddresses.clean
        #expect(
            clean([#"["https://a.example/1.png""#, #""https://a.example/2.png""#, #""https://a.example/3.png"]"#])
                == (1...3).map { "https://a.example/\($0).png" }
        )
        #expect(clean([#"["https://a.example/1.png"]"#]) == ["https://a.example/1.png"])
        #expect(clean([#"["https://a.example/1.png""#]) == ["https://a.example/1.png"])
        #expect(clean(["https://a.example/c_fill", "w_300/a.png"]) == ["https://a.example/c_fill"])
        #expect(clean([#"["https://a.example/c_fill,w_300/a.png"]"#]) == ["https://a.example/c_fill,w_300/a.png"])
        #expect(
            clean(["http://a.example/x", "http://a.example/x", " https://b.example/y "]) == [
                "http://a.example/x", "https://b.example/y",
            ]
        )
        #expect(
            clean([
                "tools.png", "", "[]", "ftp://a.example/x", "javascript:alert(1)", "file:///etc/passwd", "https://",
                "https://u:p@a.example/x", "data:,x",
            ]) == []
        )
        // SHOP-11: browsers encode these, and so does this.
        #expect(clean(["https://a.example/д й.png?q=ж"]) == ["https://a.example/%D0%B4%20%D0%B9.png?q=%D0%B6"])
        // TRUST-01: no connection can be made to these.
        #expect(clean(["http://a.example:99999/x", "http://a.example:0/x", "http://%5B%5D/x"]) == [])
        #expect(clean(["http://a.example:65535/x"]) == ["http://a.example:65535/x"])
        #expect(clean([]) == [] && clean(["[]"]) == [])
        #expect(clean((0..<500).map { "https://a.example/\($0)" }).count == Product.maximumImages)
    }

    @Test("prices are exact, and only digits with a point are one")
    func prices() throws {
        let price = try #require(Price(text: "19.99"))
        #expect(price.amount * 3 == Decimal(string: "59.97"))
        #expect(Price(text: "0.10")?.text.english == "0.10$" && Price(text: "007")?.text.english == "7$")
        for text in [
            "", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0x10", "１", "1 ", "NaN", "inf",
            String(repeating: "9", count: 41),
        ] {
            #expect(Price(text: text) == nil, "\(text)")
        }
        #expect(try JSONDecoder().decode(Price.self, from: JSONEncoder().encode(price)) == price)
        // Every price can be read again, from its own text; those that earlier builds have stored, too.
        for text in ["1e-39", "1e-127", "0.1234567890123456789012345678901234567890", "1e30", "0.000001", "7e-9"] {
            let amount = try #require(Decimal(string: text))
            #expect(Price(amount).map { Price(text: $0.amount.description) == $0 } ?? true, "\(text)")
            #expect(Price(stored: amount.description)?.amount == amount, "\(text)")
        }
        let tiny = try #require(Decimal(string: "1e-39"))
        #expect(Price(tiny) == nil && Price(stored: "-1") == nil && Price(stored: "x") == nil)
    }
}

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
