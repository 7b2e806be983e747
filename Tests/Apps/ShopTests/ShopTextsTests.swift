import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Shop

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
