import Screens
import Storage

/// How wide a product is in the results: two in a row, or one.
enum Layout: String, Encodable, Sendable {
    case tile
    case wide

    /// - Parameter wide: the categories whose products take a whole row: ids, or names without regard to case.
    init(of category: Product.Category?, wide: [String]) {
        let name = category?.name.caseFolded
        let isWide = category.map { category in
            wide.contains { Int($0) == category.id || $0.caseFolded == name }
        }
        self = isWide == true ? .wide : .tile
    }
}

/// Whether a product is on the shopping list, and how many of it.
struct Cart: Encodable, Sendable, Equatable {
    let inList: Bool
    let quantity: Int

    init(_ line: CartLine?) {
        inList = line != nil
        quantity = line?.quantity ?? 0
    }
}

/// The category of a product.
struct CategoryName: Encodable, Sendable {
    let id: Int
    let name: String

    init(_ category: Product.Category) {
        (id, name) = (category.id, category.name)
    }
}

extension Product {
    /// The address of its card.
    var href: Link { "/v1/shop/products/\(id)" }

    /// The address of one of its pictures.
    func imageURL(_ number: Int = 0) -> Link { "/v1/shop/images/\(id)/\(number)" }
}

/// The fields of a product that a row of the results and the card have in common.
struct ProductSummary: Encodable, Sendable {
    let id: Int
    let title: String
    let price: Price
    let currency = "USD"
    let priceText: Text
    let description: String
    let descriptionText: Text
    @Nullable var category: CategoryName?
    let layout: Layout
    let cart: Cart
    let actions: [Action]

    init(_ product: Product, _ line: CartLine?, isListFull: Bool, layout: Layout) {
        id = product.id
        title = product.title
        price = product.price
        priceText = product.price.text
        description = product.description
        descriptionText = product.descriptionText
        category = product.category.map(CategoryName.init)
        self.layout = layout
        cart = Cart(line)
        let listing = line.map(Action.changing) ?? [.add(product.id, isListFull: isListFull)]
        actions = listing + [.share(product.href)]
    }
}

extension Banner {
    /// The notification while the catalogue is offline.
    static let shopOffline = Banner(
        code: "offline",
        text: .shopOffline,
        dismissal: .online
    )
}
