package import Screens

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
                Label("previous_price_text", .priceBefore), quantity,
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
