import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Sandbox
@testable import Shop

@Suite("Products that the list of the catalogue no longer has", .timeLimit(.minutes(10)))
struct ListedProductCheckTests {
    private func refreshAllPages(_ app: ShopHarness) async throws {
        var next: String? = "/v1/shop/search?limit=30&refresh=1"
        while let target = next {
            let page = try await app.get(target)
            next = if case .string(let link) = page["links.next"] { link + "&refresh=1" } else { nil }
        }
    }

    @Test("SHOP-16 after all pages were refreshed, a vanished product on the list is unavailable; the API was asked")
    func vanished() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(5)
            try await app.add(7)
            try app.control(.delete, "products/5")
            try await refreshAllPages(app)
            try await BoundedWait.poll(for: "a product that is gone") {
                try await app.get("/v1/shop/list")["data.items.0.difference"] == "gone"
            }
            let list = try await app.get("/v1/shop/list")
            #expect(list.all("available", in: "data.items") == [false, true])
            #expect(
                app.asked.filter { $0 == "/products/5" }.count == 2
                    && app.asked.filter { $0 == "/products/7" }.count == 1
            )
        }
    }

    @Test("a product that is missing from some pages only is not checked")
    func partly() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(60)
            try app.control(.delete, "products/60")
            for offset in [0, 30] { _ = try await app.get("/v1/shop/search?limit=30&offset=\(offset)") }
            _ = try await app.get("/v1/shop/search?category_id=1&limit=100")
            #expect(app.asked.filter { $0 == "/products/60" }.count == 1)
            #expect(try await app.get("/v1/shop/list")["data.items.0.available"] == true)
        }
    }
}
