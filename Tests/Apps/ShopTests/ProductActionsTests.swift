import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Shop

@Suite("What can be done with products and lines")
struct ProductActionsTests {
    /// Sends the request of an action, as a front end does.
    private func perform(_ id: String, in path: String, of response: Exchanged, _ app: ShopHarness) async throws
        -> Exchanged
    {
        guard case .array(let actions) = response[path],
            let action = actions.compactMap({ if case .object(let members) = $0 { members } else { nil } })
                .first(where: { $0["id"] == .string(id) }),
            case .string(let method) = action["method"], case .string(let href) = action["href"],
            let method = HTTPRequest.Method(method)
        else {
            Issue.record("no action \(id)")
            return response
        }
        var body: String?
        if case .object(let members) = action["body"] {
            body =
                "{"
                + members.map { name, value in
                    switch value {
                    case .number(let number): "\"\(name)\":\(Int(number))"
                    case .bool(let flag): "\"\(name)\":\(flag)"
                    default: ""
                    }
                }.joined(separator: ",") + "}"
        }
        return try await app.ask(method, href, as: nil, [:], json: body)
    }

    @Test("SHOP-18 results, card and list name their actions, which can be sent as they are")
    func sent() async throws {
        try await ShopHarness.run { (app) async throws in
            let row = try await app.get("/v1/shop/search?q=hoodie")
            #expect(row.all("id", in: "data.items.0.actions") == ["add", "share"])
            #expect(row.all("title", in: "data.items.0.actions") == ["Добавить в корзину", "Поделиться"])
            var list = try await perform("add", in: "data.items.0.actions", of: row, app)
            #expect(list.status == 201 && list.listed == [2])
            #expect(list.all("id", in: "data.items.0.actions") == ["decrease", "increase", "delete", "check", "share"])
            #expect(list.all("title", in: "data.items.0.actions") == ["−", "+", "Удалить", "Куплено", "Поделиться"])
            #expect(list.all("enabled", in: "data.items.0.actions") == [false, true, true, true, true])
            list = try await perform("increase", in: "data.items.0.actions", of: list, app)
            #expect(list["data.items.0.quantity"] == 2)
            let card = try await app.get("/v1/shop/products/2")
            #expect(card.all("id", in: "data.actions") == ["decrease", "increase", "delete", "share"])
            list = try await perform("decrease", in: "data.actions", of: card, app)
            #expect(list["data.items.0.quantity"] == 1)
            list = try await perform("check", in: "data.items.0.actions", of: list, app)
            #expect(list["data.item.bought"] == true && list["data.items.0.quantity"] == 1)
            list = try await perform("uncheck", in: "data.items.0.actions", of: list, app)
            #expect(list["data.items.0.bought"] == false)
            let text = try await perform("share", in: "data.items.0.actions", of: list, app)
            #expect(text["meta.screen"] == "shop.share")
            #expect(
                try await perform("share", in: "data.actions", of: card, app)["data.text"] == card["data.share_text"]
            )
            #expect(try await perform("delete", in: "data.items.0.actions", of: list, app).listed == [])
            #expect(try await app.get("/v1/shop/products/2").all("id", in: "data.actions") == ["add", "share"])
        }
    }

    @Test("SHOP-18 a line at 999 takes no more; each picture says which of how many it is")
    func bounds() async throws {
        try await ShopHarness.run { (app) async throws in
            let list = try await app.add(7, quantity: 999)
            #expect(list.all("enabled", in: "data.items.0.actions") == [true, false, true, true, true])
            #expect(try await app.get("/v1/shop/products/7")["data.image_texts"] == ["1/3", "2/3", "3/3"])
            #expect(try await app.get("/v1/shop/products/39")["data.image_texts"] == ["1/1"])
        }
    }
}

@Suite("Texts of the Shop")
struct ShopTextsTests {
    @Test("HARN-30 Problems of user input are in the words of users, without names of parameters and members")
    func dialogs() async throws {
        try await ShopHarness.run { (app) async throws in
            let long = String(repeating: "a", count: 201)
            let prices = Problem.Dialog.prices.message.russian
            for (target, message) in [
                ("/v1/shop/search?price_min=9&price_max=1", prices), ("/v1/shop/search?price=cheap", prices),
                ("/v1/shop/search?price=1&price_min=1", prices),
                ("/v1/shop/search?q=\(long)", Problem.Dialog.searchText.message.russian),
                ("/v1/shop/history?q=%00", Problem.Dialog.searchText.message.russian),
            ] {
                let problem = try await app.get(target)
                #expect(problem.status == 400 && problem["dialog.message"] == .string(message), "\(target)")
            }
            let filters = try await app.ask(.put, "/v1/shop/filters", json: #"{"price_min":9,"price_max":1}"#)
            #expect(filters.status == 422 && filters["dialog.message"] == .string(prices))
            let quantity = try await app.ask(
                .post,
                "/v1/shop/list/items",
                json: #"{"product_id":1,"quantity":1000}"#
            )
            let message = Problem.Dialog.quantity.message.russian
            #expect(quantity.status == 422 && quantity["dialog.message"] == .string(message))
            #expect(!(prices + message).contains("_"))
        }
    }
}
