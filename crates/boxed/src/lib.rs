//! `#[boxed]` on an `impl` block.
//!
//! Rust compiles the body of an async method wherever somebody awaits it: each
//! crate above the engine would compile all of the engine again. A method that
//! returns a boxed future is compiled once, in its own crate, for the price of an
//! allocation a call.

use proc_macro::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, Lifetime, ReturnType, Type, TypeImplTrait,
    TypeReference, parse_macro_input, parse_quote,
};

/// Makes the async methods of this block return boxed futures, except those that
/// are generic over types: these are compiled by their callers in any case.
#[proc_macro_attribute]
pub fn boxed(_: TokenStream, block: TokenStream) -> TokenStream {
    let mut block = parse_macro_input!(block as ItemImpl);
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && method.sig.asyncness.is_some()
            && !is_generic(method)
        {
            box_future(method);
        }
    }
    quote!(#block).into()
}

fn is_generic(method: &ImplItemFn) -> bool {
    struct Found(bool);
    impl VisitMut for Found {
        fn visit_type_impl_trait_mut(&mut self, _: &mut TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut signature = method.sig.clone();
    let mut found = Found(false);
    found.visit_signature_mut(&mut signature);
    let is_type = |parameter: &GenericParam| !matches!(parameter, GenericParam::Lifetime(_));
    found.0 || method.sig.generics.params.iter().any(is_type)
}

fn box_future(method: &mut ImplItemFn) {
    let call: Lifetime = parse_quote!('call);
    let signature = &mut method.sig;
    signature.asyncness = None;
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                if let Some((_, lifetime)) = &mut receiver.reference {
                    lifetime.get_or_insert(call.clone());
                    Outlive(&call).visit_type_mut(&mut receiver.ty);
                }
            }
            FnArg::Typed(argument) => Outlive(&call).visit_type_mut(&mut argument.ty),
        }
    }
    let mut output: Type = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, output) => (**output).clone(),
    };
    Outlive(&call).visit_type_mut(&mut output);
    let named: Vec<Lifetime> = signature
        .generics
        .lifetimes()
        .map(|l| l.lifetime.clone())
        .collect();
    signature.generics.params.insert(0, parse_quote!('call));
    for lifetime in named {
        let clause = signature.generics.make_where_clause();
        clause.predicates.push(parse_quote!(#lifetime: 'call));
    }
    signature.output = parse_quote! {
        -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = #output> + ::std::marker::Send + 'call>>
    };
    let body = &method.block;
    method.block = parse_quote!({
        ::std::boxed::Box::pin(async move {
            // Tells the compiler the type of the result.
            if let ::std::option::Option::Some(result) = ::std::option::Option::None::<#output> {
                return result;
            }
            #body
        })
    });
}

/// Gives references without a lifetime that of the call.
struct Outlive<'l>(&'l Lifetime);

impl VisitMut for Outlive<'_> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert(self.0.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }

    /// `Fn(&T)` has lifetimes of its own.
    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }
}
