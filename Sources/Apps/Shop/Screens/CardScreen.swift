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
    /// At least one: a product without pictures has the placeholder.
    let images: [String]
    /// Which of how many each picture is.
    let imageTexts: [String]
    let button: Button
    let shareText: String

    init(_ product: Product, _ line: CartLine?, layout: Layout) {
        self.product = ProductSummary(product, line, layout: layout)
        let numbers = 0..<max(1, product.images.count)
        images = numbers.map { "/v1/shop/images/\(product.id)/\($0)" }
        imageTexts = numbers.map { "\($0 + 1)/\(numbers.count)" }
        button = Button(isInList: line != nil)
        shareText = product.shareText
    }

    private enum CodingKeys: CodingKey { case images, imageTexts, button, shareText }

    func encode(to encoder: any Encoder) throws {
        try product.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(images, forKey: .images)
        try fields.encode(imageTexts, forKey: .imageTexts)
        try fields.encode(button, forKey: .button)
        try fields.encode(shareText, forKey: .shareText)
    }
}

extension CardScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try product.writeFirstMembers(to: &json, button: button)
        json.member("id", product.id)
        json.member("image_texts", imageTexts)
        json.member("images", images)
        try product.writeLayoutAndPrice(to: &json)
        json.member("share_text", shareText)
        json.member("title", product.title)
        json.endObject()
    }
}

extension CardScreen.Button: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("action", action)
        json.member("href", href)
        json.member("method", method)
        json.member("title", title)
        json.endObject()
    }
}
