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

    let product: ProductSummary
    let descriptionText: String
    /// At least one: a product without pictures has the placeholder.
    let images: [String]
    let button: Button
    let shareText: String

    init(_ product: Product, quantity: Int?, layout: Layout) {
        self.product = ProductSummary(product, quantity: quantity, layout: layout)
        descriptionText = product.description.isEmpty ? "Описание отсутствует" : product.description
        images = (0..<max(1, product.images.count)).map { "/v1/shop/images/\(product.id)/\($0)" }
        button = Button(isInList: quantity != nil)
        shareText = "Название: \(product.title)\nЦена: \(product.price.text)\nОписание: \(descriptionText)"
    }

    private enum CodingKeys: CodingKey { case descriptionText, images, button, shareText }

    func encode(to encoder: any Encoder) throws {
        try product.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(descriptionText, forKey: .descriptionText)
        try fields.encode(images, forKey: .images)
        try fields.encode(button, forKey: .button)
        try fields.encode(shareText, forKey: .shareText)
    }
}
