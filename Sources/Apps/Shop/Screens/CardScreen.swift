import Screens

/// `GET /v1/shop/products/{id}`.
struct CardScreen: Encodable, Sendable {
    struct Button: Encodable, Sendable {
        let title: String
        /// `add` puts the product on the list; `open_list` shows the list.
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
    /// At least one: a product without pictures has the placeholder.
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
