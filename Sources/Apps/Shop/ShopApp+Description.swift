package import AppInterface
package import Screens
package import Settings

extension ShopApp {
    /// The catalogue. Anyone can write to the public one and name any host for pictures.
    static let catalogue = UpstreamDescription(
        "catalogue",
        title: "the catalogue",
        url: "https://api.escuelajs.co/api/v1",
        probePath: CatalogueAPI.categoriesPath,
        trustedHostsSetting: "shop.picture_hosts"
    )
    /// Russian.
    package static let language = Language.russian
    /// The upstreams of the app.
    package static let upstreams = [catalogue]
    /// The problem codes of the app.
    package static let problems: [ProblemCode] = [.listEmpty]
    /// The settings of the app.
    package static let settings = [
        Setting(
            "freshness.shop_s",
            .integer(0...31_536_000),
            default: "30",
            "freshness time of products of the Shop app"
        ),
        Setting(
            "freshness.categories_s",
            .integer(0...31_536_000),
            default: "3600",
            "freshness time of categories of the Shop app"
        ),
        Setting(
            "shop.wide_categories",
            .list,
            default: "1,2",
            "categories whose products take a whole row, by id or name"
        ),
        Setting(
            "shop.picture_hosts",
            .list,
            default: "",
            "hosts of product pictures that may be at private addresses, on any port",
            note: "public ones need not be listed"
        ),
    ]
}
