import Cluster
import HTTPTypes
package import Screens
package import Storage

extension ShopApp {
    /// The catalogue. Anyone can write to the public one and name any host for pictures.
    static let catalogue = UpstreamDescription(
        "catalogue",
        title: "the catalogue",
        url: "https://api.escuelajs.co/api/v1",
        probePath: CatalogueAPI.categoriesPath,
        trustedHosts: pictureHosts
    )
    package static let language = Language.russian
    package static let upstreams = [catalogue]
    package static let problems: [ProblemCode] = [.listEmpty]
    package static let records = [
        RecordTable("shop_product", of: KnownProduct.self),
        RecordTable("shop_list_item") { _ = try Product(row: $0, id: $0.value("product_id")) },
    ]
    static let freshness = Setting(
        "freshness.shop_s",
        .seconds(0...31_536_000),
        default: .seconds(30),
        "freshness time of products of the Shop app"
    )
    static let categoryFreshness = Setting(
        "freshness.categories_s",
        .seconds(0...31_536_000),
        default: .seconds(3600),
        "freshness time of categories of the Shop app"
    )
    static let wideCategories = Setting(
        "shop.wide_categories",
        .list,
        default: ["1", "2"],
        "categories whose products take a whole row, by id or name"
    )
    static let pictureHosts = Setting(
        "shop.picture_hosts",
        .list,
        default: [],
        "hosts of product pictures that may be at private addresses, on any port",
        note: "public ones need not be listed"
    )
    package static let settings: [any SettingDeclaration] = [
        freshness, categoryFreshness, wideCategories, pictureHosts,
    ]
}

extension ShopApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("shop.launch", .shop),
        ScreenForm(
            "shop.search",
            Text("Products", ru: "Товары"),
            tab: "/v1/shop/search",
            search: "/v1/shop/search",
            [.name("title"), .name("name"), .picture("image_url")] + product
        ),
        ScreenForm(
            "shop.categories",
            Text("Categories", ru: "Категории"),
            tab: "/v1/shop/categories",
            [.name("name"), .picture("image_url")]
        ),
        ScreenForm(
            "shop.history",
            Text("History", ru: "История"),
            tab: "/v1/shop/history",
            search: "/v1/shop/history",
            [.name("q"), Label("filters")] + filters
        ),
        ScreenForm("shop.suggestions", Text("Suggestions", ru: "Подсказки"), [.name("text")]),
        ScreenForm(
            "shop.filters",
            Text("Filters", ru: "Фильтры"),
            tab: "/v1/shop/filters",
            filters + [
                Label("price_bounds", Text("Prices", ru: "Цены")), Label("min_text", Text("From", ru: "От")),
                Label("max_text", Text("To", ru: "До")),
            ]
        ),
        ScreenForm(
            "shop.favourites",
            .favourites,
            tab: "/v1/shop/favourites",
            [
                .name("title"), .picture("image_url"), Label("price_text"),
                Label("previous_price_text", .priceBefore), Label("difference_text"),
            ]
        ),
        ScreenForm(
            "shop.list",
            .list,
            tab: "/v1/shop/list",
            [
                .name("title"), .picture("image_url"), Label("price_text"),
                Label("previous_price_text", .priceBefore), quantity, Label("bought", .bought),
                Label("line_total_text", Text("Total", ru: "Всего")), Label("difference_text"),
                Label("totals"), Label("items_text"),
            ]
        ),
        ScreenForm("shop.card", Text("Product", ru: "Товар"), [.name("name"), .picture("image_urls")] + product),
        ScreenForm("shop.related", .related, [.name("title"), .picture("image_url"), Label("price_text", .price)]),
        ScreenForm("shop.share", .share, [Label("text")]),
    ]

    private static let quantity = Label("quantity", Text("Quantity", ru: "Количество"))

    private static let product: [Label] = [
        Label("price_text", .price), Label("description_text"),
        Label("category", .category), Label("cart"), quantity,
    ]

    private static let filters: [Label] = [
        Label("price_text", .price), Label("price_min_text", .priceFrom),
        Label("price_max_text", .priceTo),
    ]
}

extension CardScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: product.title) }
}

extension Text {
    fileprivate static let shop = Text("Shop", ru: "Магазин")
    static let category = Text("Category", ru: "Категория")
    static let price = Text("Price", ru: "Цена")
    static let priceFrom = Text("Price from", ru: "Цена от")
    fileprivate static let priceBefore = Text("Price before", ru: "Прежняя цена")
    static let priceTo = Text("Price to", ru: "Цена до")
}

extension ShopApp {
    /// Lines of shopping lists: `{"product_id", "quantity"?, "profile"?}`. Products come from the catalogue.
    package var seeding: Seeding {
        shop.store.users.isShared ? Seeding() : Seeding(members: ["list": Lists(shop: shop).seed])
    }
}

extension Lists {
    /// Reads a line of a test's document.
    @Sendable fileprivate func seed(_ fields: JSONFields) async throws -> SeedStep {
        try fields.requireOnly("product_id", "quantity", "profile")
        let profile = try fields.profile()
        let (id, quantity) = try Self.addition(fields)
        let product: Product
        do {
            product = try await shop.reader.known(id)
        } catch let problem as Problem where problem.code == .notFound {
            throw Problem.validation([.field("/product_id", "unknown", "The catalogue has no product \(id).")])
        }
        return SeedStep { [store = shop.store] db in
            guard try store.seed(product, quantity: quantity, to: profile, db) else {
                throw Problem.validation([
                    .field("/product_id", "duplicate", "The list has this product already.")
                ])
            }
        }
    }
}

extension ProblemCode {
    static let listEmpty = ProblemCode("list-empty", .conflict, .emptyList)
}
