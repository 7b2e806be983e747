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
    /// Russian.
    package static let language = Language.russian
    /// The upstreams of the app.
    package static let upstreams = [catalogue]
    /// The problem codes of the app.
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
    /// The settings of the app.
    package static let settings: [any SettingDeclaration] = [
        freshness, categoryFreshness, wideCategories, pictureHosts,
    ]
}
