import Foundation
import Screens

// The texts of the Shop. The original app is in Russian.
extension Text {
    static let list = Text("Shopping list", ru: "Корзина")
    static let emptyList = Text("The shopping list is empty", ru: "Корзина пуста")
    static let toProducts = Text("To the products", ru: "К товарам")
    static let addToList = Text("Add to the list", ru: "Добавить в корзину")
    static let openList = Text("Open the list", ru: "Перейти в корзину")
    static let remove = Text("Remove", ru: "Удалить")
    static let bought = Text("Bought", ru: "Куплено")
    static let notBought = Text("Not bought yet", ru: "Ещё не куплено")
    static let apply = Text("Apply", ru: "Применить")
    static let reset = Text("Reset", ru: "Сбросить")
    static let reorder = Text("Change the order", ru: "Изменить порядок")
    static let nothingToReorder = Text("There is nothing to reorder.", ru: "Менять местами нечего.")
    static let quantities = Text(
        "From \(ListItem.quantities.lowerBound) to \(ListItem.quantities.upperBound) pieces.",
        ru: "От \(ListItem.quantities.lowerBound) до \(ListItem.quantities.upperBound) штук."
    )
    static let noProducts = Text("Sorry, there are no such products yet :(", ru: "Извините, таких товаров пока нет :(")
    static let catalogueAway = Text("The catalogue is not available now", ru: "Каталог сейчас недоступен")
    static let nothingAmongSeen = Text(
        "Nothing was found among the products that were shown before. Repeat the search later.",
        ru: "Среди товаров, которые уже были показаны, ничего не нашлось. Повторите поиск позже."
    )
    static let noCategories = Text("There are no categories yet", ru: "Категорий пока нет")
    static let noSuchSearch = Text("No such search yet", ru: "Таких запросов ещё не было")
    static let emptyHistory = Text("The search history is empty", ru: "История поиска пуста")
    static let noDescription = Text("There is no description", ru: "Описание отсутствует")
    static let shopOffline = Text(
        "No internet connection. Stored data is shown.",
        ru: "Нет соединения с интернетом. Показаны сохранённые данные."
    )
    static let noSuchProduct = Text("There is no such product.", ru: "Такого товара нет.")
    static let noSuchCategory = Text("There is no such category.", ru: "Такой категории нет.")
    static let favourites = Text("Favourites", ru: "Избранное")
    static let addFavourite = Text("Add to favourites", ru: "В избранное")
    static let removeFavourite = Text("Remove from favourites", ru: "Убрать из избранного")
    static let noFavourites = Text("There are no favourites yet", ru: "В избранном пока пусто")
    static let related = Text("Related products", ru: "Похожие товары")
    static let notOnList = Text("The product is not on the list.", ru: "Этого товара нет в корзине.")
    static let nothingToShare = Text("There is nothing on the list to share.", ru: "В корзине нечем поделиться.")
    static let noSearchAtIndex = Text(
        "There is no such search in the history; the newest one is 0.",
        ru: "Такого запроса нет в истории; самый новый — 0."
    )

    static func pieces(_ count: Int) -> Text { Text("Items: \(count)", ru: "Товаров: \(count)") }
    static func sum(_ price: Text) -> Text { Text("Sum: \(price.english)", ru: "Сумма: \(price.russian)") }
    /// An amount with two decimals, or none if it is whole.
    static func price(_ amount: Decimal) -> Text {
        let (whole, exact) = (Text.number(amount, decimals: 0...0), Text.number(amount, decimals: 2...2))
        return Text.number(amount) == whole ? "\(whole)$" : "\(exact)$"
    }

    static func favouritesFull(_ most: Int) -> Text {
        Text("There are \(most) favourites already.", ru: "В избранном уже \(most) товаров.")
    }

    static func listFull(_ most: Int) -> Text {
        Text(
            "The list has \(most) products and is full.",
            ru: "В корзине уже \(most) товаров, больше не поместится."
        )
    }
}

extension ListItem.Difference {
    /// The difference from the product on the list, as a sentence for the user.
    var text: Text {
        switch self {
        case .gone: Text("No longer for sale", ru: "Больше не продаётся")
        case .replaced: Text("Another product is sold in its place", ru: "Вместо него теперь другой товар")
        }
    }
}

// Texts to share.
extension Text {
    static func share(_ title: String, _ price: Text) -> Text {
        Text("Name: \(title)\nPrice: \(price.english)", ru: "Название: \(title)\nЦена: \(price.russian)")
    }

    static func shareQuantity(_ quantity: Int) -> Text {
        Text("\nQuantity: \(quantity)", ru: "\nКоличество: \(quantity)")
    }

    static func shareDescription(_ text: Text) -> Text {
        Text("\nDescription: \(text.english)", ru: "\nОписание: \(text.russian)")
    }
}

extension Problem {
    /// 404: the product is not on the list.
    static let notListed = Problem.notFound(.notOnList)
    /// 404: the history has no such search.
    static let noSearch = Problem.notFound(.noSearchAtIndex)
}

// Messages about invalid input.
extension Problem.Dialog {
    static let prices = Problem.Dialog(
        message: Text(
            "Check the prices: each is a number that is not negative, the lowest is not above the highest, "
                + "and an exact price excludes both.",
            ru: "Проверьте цены: это неотрицательные числа, минимальная не больше максимальной, "
                + "а точная указана одна."
        )
    )
    static let searchText = Problem.Dialog(
        message: Text(
            "The search is too long, or contains characters that cannot be searched.",
            ru: "Запрос слишком длинный или содержит символы, по которым искать нельзя."
        )
    )
    static let otherList = Problem.Dialog(
        message: Text(
            "The list has changed meanwhile. Try again.",
            ru: "Список тем временем изменился. Попробуйте ещё раз."
        )
    )
    static let quantity = Problem.Dialog(
        message: Text(
            "The quantity is a whole number from 1 to \(ListItem.quantities.upperBound).",
            ru: "Количество — целое число от 1 до \(ListItem.quantities.upperBound)."
        )
    )
}

// The same for the authors of clients, who read English; users get the title of the problem.
extension Text {
    static let priceForm: Text = "accepts a number that is not negative, such as 9.99, up to 10^30"
    static let noControlCharacters: Text = "accepts a text without control characters"
    static let priceAlone: Text = "excludes price_min and price_max"
    static let minimumAboveMaximum: Text = "must not exceed price_max"
    static let categoryForm: Text = "category_id accepts an integer from 1 to \(Int32.max)."

    static func textLength(_ most: Int) -> Text { "accepts a text of at most \(most) characters" }

    static func missingInteger(_ name: String, _ range: ClosedRange<Int>) -> Text {
        "\(name) is missing; it is \(integer(range))."
    }

    static func wrongInteger(_ name: String, _ range: ClosedRange<Int>) -> Text { "\(name) must be \(integer(range))." }

    private static func integer(_ range: ClosedRange<Int>) -> Text {
        range.upperBound == .max
            ? "an integer of at least \(range.lowerBound)"
            : "an integer from \(range.lowerBound) to \(range.upperBound)"
    }
}
