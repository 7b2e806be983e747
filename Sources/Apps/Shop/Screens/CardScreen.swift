import Screens

/// `GET /v1/shop/products/{id}`.
struct CardScreen: Encodable, Sendable {
    @Flattened var product: ProductSummary
    /// At least one: a product without pictures has the placeholder.
    let imageUrls: [Link]
    /// Which of how many each picture is.
    let imageTexts: [String]
    /// Puts the product on the list, or shows the list.
    let button: Action
    let shareText: Text

    init(_ product: Product, _ line: CartLine?, isListFull: Bool = false, layout: Layout) {
        self.product = ProductSummary(product, line, isListFull: isListFull, layout: layout)
        let numbers = 0..<max(1, product.images.count)
        imageUrls = numbers.map { "/v1/shop/images/\(product.id)/\($0)" }
        imageTexts = numbers.map { "\($0 + 1)/\(numbers.count)" }
        button = line == nil ? .add(product.id, isListFull: isListFull) : .openList
        shareText = product.shareText
    }
}
