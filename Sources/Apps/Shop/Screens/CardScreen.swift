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
    /// Adds the product to the favourites, or takes it away.
    let favourite: Action
    /// Products of the same category.
    let relatedHref: Link
    let shareText: Text

    init(_ product: Product, _ lines: CartLines, layout: Layout) {
        let (line, isListFull) = (lines[product.id], lines.isListFull)
        favourite = .favourite(product.id, lines.favourites[product.id]?.id)
        relatedHref = "\(product.href)/related"
        self.product = ProductSummary(product, line, isListFull: isListFull, layout: layout)
        let numbers = 0..<max(1, product.images.count)
        imageUrls = numbers.map(product.imageURL)
        imageTexts = numbers.map { "\($0 + 1)/\(numbers.count)" }
        button = line == nil ? .add(product.id, isListFull: isListFull) : .openList
        shareText = product.shareText
    }
}
