import Foundation
import Screens

/// How wide a product stands in the results: two in a row, or one.
enum Layout: String, Encodable, Sendable {
    case tile
    case wide
}

/// Whether a product is on the shopping list, and how many of it.
struct Cart: Encodable, Sendable, Equatable {
    let inList: Bool
    let quantity: Int

    init(_ quantity: Int?) {
        inList = quantity != nil
        self.quantity = quantity ?? 0
    }
}

/// A category as products name it.
struct CategoryName: Encodable, Sendable {
    let id: Int
    let name: String

    init(_ category: Product.Category) {
        (id, name) = (category.id, category.name)
    }
}

/// `GET /v1/shop/launch`: which screen a cold start shows.
struct LaunchScreen: Encodable, Sendable {
    let route = "search"
    /// The last search, to be shown at once.
    let href = "/v1/shop/search?saved=1"

    private enum CodingKeys: CodingKey { case route, href }
}

/// `GET /v1/shop/categories`.
struct CategoriesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int
        let name: String
        let layout: Layout
        let href: String
    }

    let items: [Row]
    let empty: EmptyState?
}

/// What a screen shows in place of content.
struct EmptyState: Encodable, Sendable {
    let title: String
    let text: String
    let button: String
}

/// `GET /v1/shop/products/{id}`.
struct CardScreen: Encodable, Sendable {
    struct Button: Encodable, Sendable {
        let title: String
        /// `add`: put it on the list. `open_list`: show the list; nothing is added.
        let action: String
        let method: String
        let href: String

        init(isInList: Bool) {
            title = isInList ? "Перейти в корзину" : "Добавить в корзину"
            action = isInList ? "open_list" : "add"
            method = isInList ? "GET" : "POST"
            href = isInList ? "/v1/shop/list" : "/v1/shop/list/items"
        }
    }

    let id: Int
    let title: String
    let price: Price
    let currency = "USD"
    let priceText: String
    let description: String
    let descriptionText: String
    @Nullable var category: CategoryName?
    /// At least one: a product without pictures has a placeholder.
    let images: [String]
    let layout: Layout
    let cart: Cart
    let button: Button
    let shareText: String

    init(_ product: Product, quantity: Int?, layout: Layout) {
        id = product.id
        title = product.title
        price = product.price
        priceText = product.price.text
        description = product.description
        descriptionText = product.description.isEmpty ? "Описание отсутствует" : product.description
        _category = Nullable(wrappedValue: product.category.map(CategoryName.init))
        images = (0..<max(1, product.images.count)).map { "/v1/shop/images/\(product.id)/\($0)" }
        self.layout = layout
        cart = Cart(quantity)
        button = Button(isInList: quantity != nil)
        shareText = "Название: \(product.title)\nЦена: \(product.price.text)\nОписание: \(descriptionText)"
    }

    private enum CodingKeys: CodingKey {
        case id, title, price, currency, priceText, description, descriptionText, category, images, layout, cart,
            button, shareText
    }
}

extension Banner {
    /// What the Shop app says while the catalogue is out of reach.
    static let shopOffline = Banner(
        code: "offline",
        text: "Нет соединения с интернетом. Показаны сохранённые данные.",
        dismissal: .online
    )
}

extension Problem.Dialog {
    /// The alert of the original app.
    static let shopFailure = Problem.Dialog(
        title: "Что-то пошло не так",
        message: "Unable to complete your request. Please check your internet connection.",
        buttons: ["ОК"]
    )
}
